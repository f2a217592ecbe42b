"""Checks one aggregate: its row, its chain, its state by replay, its payloads and the rows it stands for."""

from __future__ import annotations

from typing import Any

from perdure.errors import QuarantinedError
from perdure.journal import ListedMachine, Machine, SearchedMachine
from perdure.kernel.unit_row_digests import index_secret
from perdure.sources import id_text
from perdure.store.audit.audit_reader import Reader, UnreadableError, plain
from perdure.store.audit.chain_walk import Walk
from perdure.store.audit.derived_rows import compare_rows
from perdure.store.audit.document_audit import compare_texts
from perdure.store.audit.erased_ids import Machines, ids_in, is_erased
from perdure.store.audit.findings import Finding, Report, found
from perdure.store.audit.journalled_rows import Anchors, Epoch, NamedRows, compare_anchored
from perdure.store.audit.payload_references import named_by
from perdure.store.audit.stored_states import check_parts
from perdure.store.checksums import checksum
from perdure.store.delta_read import DeltaReader, is_made_of
from perdure.store.ports import Row

MOST_LEFT = 1000
"""Warnings of one report at most."""
LOOKS = 8
"""How often an aggregate that changes while it is checked is checked again."""
PAYLOADS_AT_ONCE = 20
LEFT_BEHIND = (
    ("outbox_left", "channel_outbox"), ("task_results_left", "task_result_queue"),
    ("agent_threads_left", "agent_thread"),
)  # fmt: skip
"""What an erasure removes besides payloads: the query that finds some of it, and its table."""


class AggregateAudit:
    """Checks aggregates one by one, also while others change them."""

    def __init__(self, reader: Reader, machines: Machines, report: Report, is_full: bool) -> None:
        self._reader = reader
        self._machines = machines
        self._report = report
        self._is_full = is_full
        self.epoch = Epoch(reader)
        self.named = NamedRows(reader, report)

    async def check(self, id: bytes, ahead: Reader) -> None:
        """Add to the report what is wrong with one aggregate: read ahead, and again while it does not stand still."""
        look = await self._look(ahead, id)
        for _ in range(LOOKS):
            if not look.findings and not look.unknown:
                break
            look = await self._look(self._reader, id)
            if await self._stands_still(look):
                break
        self._report.aggregates += look.row is not None
        self._report.records += look.records
        self._report.payloads += look.payloads
        self._report.add(look.findings)
        self._report.warnings.extend(look.left[: MOST_LEFT - len(self._report.warnings)])
        if look.anchors is not None and look.row is not None:
            self.named.add(id, look.row[1], look.anchors)
        if look.unknown and await self.epoch.is_older(id):
            self._report.before_anchors += len(look.unknown)
        else:
            self._report.add(look.unknown)

    async def _look(self, reader: Reader, id: bytes) -> Look:
        look = Look(reader, self._machines, id)
        try:
            await look.take(self._is_full)
        except UnreadableError as error:
            look.findings.append(found("AUD025", "row", str(error), id))
        except Exception as error:  # a tampered column can hold anything
            fact = f"checking it gave {type(error).__name__} ({str(error)[:200]})"
            look.findings.append(found("AUD025", "aggregate", fact, id))
        return look

    async def _stands_still(self, look: Look) -> bool:
        try:
            return await load(self._reader, look.id) == look.row
        except UnreadableError:
            return look.row is None


class Look:
    """One look at one aggregate."""

    def __init__(self, reader: Reader, machines: Machines, id: bytes) -> None:
        self.id = id
        self.row: Row | None = None
        self.records = 0
        self.payloads = 0
        self.findings: list[Finding] = []
        self.unknown: list[Finding] = []
        self.left: list[str] = []
        self.anchors: Anchors | None = None
        self._reader = reader
        self._machines = machines

    async def take(self, is_full: bool) -> None:
        self.row = await load(self._reader, self.id)
        if self.row is None:
            return  # its id was changed meanwhile; whatever belonged to it shows as orphaned or sealed
        self.findings += _check_row(self.row)
        await (self._look_at_all(self.row) if is_full else self._look_at_head(self.row))

    async def _look_at_head(self, row: Row) -> None:
        version, head = row[3], row[7]
        rows = await self._reader.fetch("last_record", aggregate=self.id)
        sequence, hash = plain(rows[0]) if rows else (0, b"")
        self.findings += _check_head(self.id, (version, head), sequence, (sequence, hash))

    async def _look_at_all(self, row: Row) -> None:
        id, tenant, kind, version, status, ended_at, state, head, _ = row
        machine = self._machines.get(kind)
        walk = Walk(id, tenant, kind, machine)
        async for sequence, body, hash in self._reader.pages("read_records", 0, 0, aggregate=id):
            walk.take(sequence, body, hash)
        self.records = walk.count
        self.findings += walk.findings
        self.findings += _check_head(id, (version, head), walk.count, (walk.last, walk.head))
        if machine is None:
            fact = f"'{kind}' is not among {sorted(self._machines)}"
            self.findings.append(found("AUD009", "aggregate", fact, id))
        elif walk.is_replayed and walk.state is not None:
            self.findings += _check_state(id, machine, walk.state, state, (status, ended_at))
            self.findings += await self._check_list(machine, walk.state)
            self.findings += await check_parts(self._reader, machine, id, walk.state)
            self.anchors = walk.anchors
            await self._check_payloads(machine, walk, tenant)
            self.findings += await compare_rows(self._reader, id, tenant, machine.rows(id, walk.state))
            if isinstance(machine, SearchedMachine):
                self.findings += await compare_texts(self._reader, machine, id, walk.state)

    async def _check_list(self, machine: Machine[Any, Any, Any], state: Any) -> list[Finding]:
        for (marked,) in await self._reader.fetch("listed_as", aggregate=self.id):
            is_fit = machine.may_be_listed(state, marked) if isinstance(machine, ListedMachine) else marked == 0
            if not is_fit:
                return [found("AUD008", "aggregate", f"it is listed as {marked} of 0 (a call) and 1 (a plan)", self.id)]
        return []

    async def _check_payloads(self, machine: Machine[Any, Any, Any], walk: Walk, tenant: str) -> None:
        id, named, findings = self.id, named_by(machine, walk.state), self.findings
        sources, secrets = walk.anchors.sources, dict[bytes, bytes]()
        missing, told, wholes = set(named.needed), set[bytes](), DeltaReader(self._reader.fetch)
        async for _, hash, data in self._reader.pages("payload_page", 0, 0, PAYLOADS_AT_ONCE, aggregate=id):
            self.payloads += 1
            missing.discard(hash)
            text = f"sha256:{hash.hex()}"
            try:
                whole = await wholes.of(id, hash, data)
                if hash in sources:
                    secrets[hash] = index_secret(whole)
            except QuarantinedError as error:
                if not is_made_of(data, told):  # of damage that spreads, where it began is told
                    findings.append(
                        found("AUD010", "payload", f"the bytes kept as {text} are others: {error.fact}", id)
                    )
                told.add(hash)
            if named.is_erased:
                findings.append(found("AUD013", "payload", f"{text} should be gone", id))
            elif hash not in walk.hashes:
                findings.append(found("AUD012", "payload", f"nothing explains {text}", id))
        findings += [found("AUD011", "payload", f"no bytes for sha256:{hash.hex()}", id) for hash in sorted(missing)]
        if named.is_erased and await self._reader.fetch("index_columns", aggregate=id):
            findings.append(found("AUD013", "index_entry", "it can still be found by its data", id))
        mismatch = await compare_anchored(self._reader, id, walk.anchors, secrets, named.is_erased)
        findings += mismatch.findings
        self.unknown += mismatch.unknown
        self.left = mismatch.left
        if named.is_erased:
            await self._check_letters(tenant, int(getattr(walk.state, "erased_at", 0)))
            await self._check_handed_out(tenant)
        elif named.needed:
            for began in ids_in(str(getattr(walk.state, "parent", "")).encode()):
                if began != self.id and await is_erased(self._reader, self._machines, began):
                    left = f"{id_text(self.id)}, which it began, still holds data"
                    self.left.append(f"{id_text(began)} was erased; left is {left}. Erase it again.")

    async def _check_handed_out(self, tenant: str) -> None:
        """Rows for others that the erasure should have removed."""
        for name, place in LEFT_BEHIND:
            if await self._reader.fetch(name, tenant=tenant, letters=id_text(self.id)):
                self.findings.append(found("AUD013", place, "a row of it is still there", self.id))

    async def _check_letters(self, tenant: str, erased_at: int) -> None:
        """Dead letters that the erasure should have reached; those that came afterwards are nobody's erased data."""
        letters = id_text(self.id)
        rows = await self._reader.fetch("letters_about", tenant=tenant, aggregate=self.id, letters=letters)
        for name in [name for name, received_at in rows if received_at < erased_at]:
            self.findings.append(found("AUD013", "inbox", f"dead letter '{name}' came for it", self.id))


async def load(reader: Reader, id: bytes) -> Row | None:
    rows = await reader.fetch("load_aggregate", id=id)
    return plain(rows[0]) if rows else None


def _check_row(row: Row) -> list[Finding]:
    id, tenant, kind, version, status, ended_at, state, head, stored = row
    if checksum(id, tenant, kind, version, status, ended_at, state, head) == stored:
        return []
    return [found("AUD001", "aggregate", "a column of it was changed", id)]


def _check_head(id: bytes, stored: tuple[int, bytes], count: int, last: tuple[int, bytes]) -> list[Finding]:
    findings = []
    version, sequence = stored[0], last[0]
    if version != count or version != sequence:
        fact = f"the version is {version}, there are {count} records and the last is {sequence}"
        findings.append(found("AUD004", "aggregate", fact, id, sequence))
    if stored[1] != last[1]:
        findings.append(found("AUD005", "aggregate", f"the last record is {sequence}", id, sequence))
    return findings


def _check_state(
    id: bytes, machine: Machine[Any, Any, Any], replayed: Any, stored: bytes, columns: tuple[str, int]
) -> list[Finding]:
    findings = []
    try:
        is_same = machine.encode(machine.decode(stored)) == machine.encode(replayed)
    except Exception:  # damaged bytes can fail in any way
        is_same = False
    if not is_same:
        findings.append(found("AUD007", "aggregate", "the column 'state' holds something else", id))
    if machine.status(replayed) != columns:
        fact = f"the row says {columns}, the state {machine.status(replayed)}"
        findings.append(found("AUD008", "aggregate", fact, id))
    return findings
