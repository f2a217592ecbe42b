"""Checks the chain of seals and what each of them covers against the journal."""

from __future__ import annotations

from perdure.journal.row_digests import row_prefix
from perdure.store.audit.audit_reader import Reader, UnreadableError, plain
from perdure.store.audit.findings import Finding, Report, found
from perdure.store.row_journal import IN_FORCE, SEAL_KEY
from perdure.store.seal_keys import KeyChange, key_changes, trusted_keys
from perdure.store.seals.merkle import root
from perdure.store.seals.seal import FIRST_PREVIOUS, SEALED_AT_ONCE, Leaf, Seal, heads_of, seal_hash, unpack
from perdure.store.signing_keys import PublicKeys, is_signed, key_id_of

SEALS_AT_ONCE = 10
FEW = 10
"""Records after the last seal that are looked at one by one."""


class SealAudit:
    """Reads seals in order. `cursor` is the journal position up to which everything should be sealed."""

    def __init__(self, reader: Reader, public_keys: PublicKeys, report: Report, is_full: bool) -> None:
        self._reader = reader
        self._keys = public_keys
        self._report = report
        self._is_full = is_full
        self._number = 0
        self._hash = FIRST_PREVIOUS
        self.cursor = 0
        self._is_sure = True

    async def check(self, noted: int = 0) -> bytes | None:
        """Check all seals; returns the hash of the one numbered `noted` when it is there."""
        noted_hash, changes = None, await key_changes(self._reader.fetch)
        self._keys = trusted_keys(self._keys, changes)
        async for row in self._reader.pages("read_seals", -(2**63), 0, SEALS_AT_ONCE):
            try:
                seal = Seal.from_row(row)
                await self._check(seal)
            except (UnreadableError, TypeError, ValueError, OverflowError) as error:
                self._report.add([found("AUD025", f"seal {row[0]}", str(error)[:200])])
                self._is_sure = False
                continue
            noted_hash = seal.hash if seal.number == noted else noted_hash
        self._report.last_seal = (self._number, self._hash.hex() if self._number else "")
        self._check_changes(changes)
        end = await self._reader.number("journal_end")
        if self.cursor > end:
            fact = f"the last seal reaches to position {self.cursor}, the journal to {end}"
            self._report.add([found("AUD061", f"seal {self._number}", fact)])
        self._report.unsealed = await self._unsealed()
        return noted_hash

    async def _unsealed(self) -> int:
        """The records after the last seal, but for those of its own key: they are written with it."""
        count = await self._reader.number("count_records_after", after=self.cursor)
        if not self._number or count > FEW:
            return count
        rows = await self._reader.fetch("journal_since", after=self.cursor, most=FEW)
        prefix = row_prefix(SEAL_KEY, IN_FORCE)
        return count - sum(bytes(row[1]).startswith(prefix) for row in rows)

    def _check_changes(self, changes: list[KeyChange]) -> None:
        told = max((each.sealed for each in changes), default=0)
        if told > self._number:
            fact = f"there were {told} seals, and there are {self._number}"
            self._report.add([found("AUD064", f"seal {told}", fact)])
        for each in changes:
            if each.previous and not each.by_previous:
                text = f"Seal key '{each.previous_id}' was replaced by '{each.key_id}' without its signature"
                self._report.warnings.append(f"{text}: {each.reason}.")

    async def _check(self, seal: Seal) -> None:
        self._report.seals += 1
        place, after, was_sure = f"seal {seal.number}", self.cursor, self._is_sure
        findings = [*self._check_order(seal, place), *check_signature(seal, self._keys, place)]
        # A window of the journal can be trusted only between two seals that are what they were.
        self._is_sure = not findings
        leaves = unpack(seal.leaves)
        if leaves is None:
            findings.append(found("AUD055", place, f"{len(seal.leaves)} bytes are no ordered list of leaves"))
        elif self._is_full:
            window = await self._window(after, seal.cursor) if was_sure and self._is_sure else None
            findings += await self._check_cover(seal, place, leaves, window)
        self._report.add(findings)
        self._number, self._hash = seal.number, seal.hash
        self.cursor = max(self.cursor, seal.cursor) if self._is_sure else self.cursor

    def _check_order(self, seal: Seal, place: str) -> list[Finding]:
        findings = []
        if seal.number != self._number + 1:
            fact = f"seal {seal.number} comes where {self._number + 1} should"
            findings.append(found("AUD050", f"seal {self._number + 1}", fact))
        elif seal.previous != self._hash:
            findings.append(found("AUD051", place, f"it names another hash than that of seal {self._number}"))
        if seal.cursor <= self.cursor:
            findings.append(found("AUD051", place, f"it reaches to {seal.cursor}, the one before to {self.cursor}"))
        return findings

    async def _window(self, after: int, until: int) -> dict[bytes, Leaf]:
        rows = await self._reader.fetch("journal_since", after=after, most=SEALED_AT_ONCE)
        return {head.aggregate: head for head in heads_of(plain(row) for row in rows if row[0] <= until)}

    async def _check_cover(
        self, seal: Seal, place: str, leaves: list[tuple[bytes, int]], window: dict[bytes, Leaf] | None
    ) -> list[Finding]:
        findings: list[Finding] = []
        heads: list[Leaf] = []
        for id, sequence in leaves:
            head = window.pop(id, None) if window is not None else None
            if head is None or head.sequence != sequence:
                if head is not None and head.sequence > sequence:
                    findings.append(found("AUD060", place, f"record {head.sequence}", id, head.sequence))
                head = await self._seek(id, sequence, place, findings, is_moved=window is not None)
            if head is not None:
                heads.append(head)
        for head in (window or {}).values():
            findings.append(found("AUD060", place, f"record {head.sequence}", head.aggregate, head.sequence))
        if len(heads) == len(leaves) and root([head.data() for head in heads]) != seal.root:
            fact = f"at least one of {len(heads)} calls was written anew, or the list of them was changed"
            findings.append(found("AUD056", place, fact))
        return findings

    async def _seek(self, id: bytes, sequence: int, place: str, findings: list[Finding], is_moved: bool) -> Leaf | None:
        rows = await self._reader.fetch("record_hash", aggregate=id, sequence=sequence)
        if rows:
            if is_moved:
                findings.append(found("AUD059", place, f"record {sequence}", id, sequence))
            return Leaf(id, sequence, plain(rows[0])[0])
        if await self._reader.fetch("load_aggregate", id=id):
            findings.append(found("AUD058", place, f"record {sequence}", id, sequence))
        else:
            findings.append(found("AUD057", place, f"its record {sequence} was sealed", id, sequence))
        return None


def check_signature(seal: Seal, public_keys: PublicKeys, place: str) -> list[Finding]:
    """Whether a seal is what was signed, by a key that was given."""
    findings = []
    if seal_hash(seal.previous, seal.number, seal.at, seal.cursor, seal.root) != seal.hash:
        findings.append(found("AUD052", place, "its number, time, reach, root or predecessor was changed"))
    public = public_keys.get(seal.key_id)
    if public is None or key_id_of(public) != seal.key_id:
        return [*findings, found("AUD054", place, f"key '{seal.key_id}'")]
    if not is_signed(public, seal.signature, seal.hash):
        findings.append(found("AUD053", place, f"key '{seal.key_id}' did not sign this"))
    return findings
