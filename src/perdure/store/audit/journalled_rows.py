"""Compares the rows that an aggregate's records tell of with the rows that are stored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from perdure.journal import Anchor, Record
from perdure.journal.row_digests import row_record
from perdure.kernel import unit_row_digests
from perdure.kernel.ports import APPLIED
from perdure.kernel.unit_row_digests import MESSAGE, START, index_digest, start_digest, version_digest
from perdure.sources import id_text
from perdure.store.audit.audit_reader import Reader, plain
from perdure.store.audit.findings import Finding, Report, found
from perdure.store.audit.payload_references import HASH_BYTES
from perdure.store.row_journal import ANCHORED, GONE, STORE

NAMES_AT_ONCE = 400
_RECORDS = msgspec.msgpack.Decoder(Record[msgspec.Raw])


class Anchors:
    """The anchors of one aggregate's records, taken in order."""

    def __init__(self) -> None:
        self.messages: set[str] = set()
        self.settled: set[str] = set()
        self.starts: dict[str, bytes] = {}
        self.index: dict[str, list[bytes]] = {}
        self.entities: set[bytes] = set()

    def take(self, anchors: Iterable[Anchor]) -> None:
        for table, name, digest in anchors:
            match table:
                case unit_row_digests.MESSAGE:
                    self.messages.add(name)
                case unit_row_digests.SETTLED:
                    self.settled.add(name)
                case unit_row_digests.START:
                    self.starts[name] = digest
                case unit_row_digests.REINDEX:
                    self.index.clear()
                case unit_row_digests.INDEX:
                    self.index.setdefault(name, []).append(digest)
                case unit_row_digests.ENTITY:
                    self.entities.add(digest)

    @property
    def sources(self) -> set[bytes]:
        """The payloads that index rows come from, by their hashes."""
        return {each[:HASH_BYTES] for digests in self.index.values() for each in digests if len(each) > HASH_BYTES}


def anchors_in(body: Any) -> tuple[Anchor, ...]:
    """The anchors of a record; none when its bytes are damaged, which its chain tells."""
    try:
        return _RECORDS.decode(body).anchors
    except (msgspec.MsgspecError, TypeError, RecursionError):
        return ()


class Epoch:
    """When anchors began: rows of aggregates that are older need none."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.began = 0

    async def find(self, report: Report) -> None:
        """Look for the mark that an upgrade leaves; one that came later than anchors is forged."""
        id, *_ = row_record(STORE, ANCHORED, GONE, 0)
        self.began = await _position(self._reader, id)
        if self.began and await self._reader.fetch("rows_told_before", rows=id[:4], position=self.began):
            report.add([found("AUD029", "journal", "anchors began before the mark that says when they began", id)])
            self.began = 0

    async def is_older(self, id: bytes) -> bool:
        return bool(self.began) and 0 < await _position(self._reader, id) < self.began


async def _position(reader: Reader, id: bytes) -> int:
    rows = await reader.fetch("record_position", aggregate=id)
    return int(rows[0][0]) if rows else 0


class Mismatch(msgspec.Struct):
    """What differs in one aggregate; what is `unknown` to the journal may be older than anchors."""

    findings: list[Finding] = []
    unknown: list[Finding] = []
    left: list[str] = []


async def compare_anchored(
    reader: Reader, id: bytes, anchors: Anchors, secrets: Mapping[bytes, bytes], is_erased: bool
) -> Mismatch:
    """Compare versions of entities and index rows, which are found by their aggregate."""
    mismatch = Mismatch()
    missing = set(anchors.entities)
    for row in map(plain, await reader.fetch("history_of", aggregate=id)):
        tenant, entity, key, version, is_deleted, hash, at, principal, size, is_present = row
        digest = version_digest(tenant, entity, key, version, is_deleted, hash, id, at, principal)
        fact = f"version {version} of {entity} '{key}'"
        if is_erased and size:
            _leave(mismatch, fact, id, bool(is_present))
        elif not size and not is_erased:
            mismatch.findings.append(found("AUD026", "entity_history", f"{fact} has no data", id))
        if digest not in anchors.entities:
            mismatch.unknown.append(found("AUD028", "entity_history", fact, id))
        missing.discard(digest)
    if missing:
        mismatch.findings.append(found("AUD027", "entity_history", f"{len(missing)} versions that it wrote", id))
    if not is_erased:
        await _compare_index(reader, id, anchors, secrets, mismatch)
    return mismatch


def _leave(mismatch: Mismatch, fact: str, id: bytes, is_present: bool) -> None:
    """Data of an erased aggregate that is still there: a fault, unless it is how a record stands now."""
    if is_present:
        mismatch.left.append(f"Call {id_text(id)} was erased; left is {fact}, which is how it stands now.")
    else:
        mismatch.findings.append(found("AUD013", "entity_history", fact, id))


async def _compare_index(
    reader: Reader, id: bytes, anchors: Anchors, secrets: Mapping[bytes, bytes], mismatch: Mismatch
) -> None:
    missing = {(name, digest) for name, digests in anchors.index.items() for digest in digests}
    for tenant, verb, field, value in map(plain, await reader.fetch("index_columns", aggregate=id)):
        name, is_told = f"{verb}\0{field}", False
        for each in anchors.index.get(name, ()):
            source, digest = each[:-HASH_BYTES], each[-HASH_BYTES:]
            secret = secrets.get(source) if source else b""
            # Where the data is damaged, which is told by itself, nobody can say which row came from it.
            if secret is None or index_digest(secret, tenant, verb, field, value, id) == digest:
                missing.discard((name, each))
                is_told = True
        if not is_told:
            mismatch.unknown.append(found("AUD028", "index_entry", f"{verb} {field}", id))
    for name, each in sorted(missing):
        if each[:-HASH_BYTES] in secrets or len(each) == HASH_BYTES:
            mismatch.findings.append(found("AUD027", "index_entry", name.replace("\0", " "), id))


class NamedRows:
    """Rows that anchors name and no aggregate leads to: looked for many at once.

    A row is committed with its anchor, so that one looked for after its anchor was read must be there.
    """

    def __init__(self, reader: Reader, report: Report) -> None:
        self._reader = reader
        self._report = report
        self._messages: dict[tuple[str, str], bytes] = {}
        self._settled: set[tuple[str, str]] = set()
        self._starts: dict[tuple[str, str], tuple[bytes, bytes]] = {}

    def add(self, id: bytes, tenant: str, anchors: Anchors) -> None:
        for name in anchors.messages | anchors.settled:
            self._messages[(tenant, name)] = id if name in anchors.messages else b""
        self._settled.update((tenant, name) for name in anchors.settled)
        self._starts.update({(tenant, key): (id, digest) for key, digest in anchors.starts.items()})

    async def check(self) -> None:
        for tenant, names in _grouped(self._messages):
            rows = await self._reader.fetch("messages_named", tenant=tenant, names=json.dumps(names))
            stored: dict[str, int] = dict(map(plain, rows))
            for name in names:
                self._check_message(tenant, name, stored.get(name))
        for tenant, names in _grouped(self._starts):
            rows = await self._reader.fetch("starts_named", tenant=tenant, names=json.dumps(names))
            starts = {key: start_digest(tenant, key, id, request) for key, id, request in map(plain, rows)}
            for name in names:
                self._check_start(tenant, name, starts.get(name))
        self._messages, self._settled, self._starts = {}, set(), {}

    def _check_message(self, tenant: str, name: str, status: int | None) -> None:
        id, fact = self._messages[(tenant, name)], f"message '{name}' of tenant '{tenant}'"
        if status is None and id:
            self._report.add([found("AUD027", MESSAGE, fact, id)])
        elif status is not None and status != APPLIED and (tenant, name) in self._settled:
            self._report.add([found("AUD026", MESSAGE, f"{fact} was acted on and waits again", id)])

    def _check_start(self, tenant: str, key: str, digest: bytes | None) -> None:
        id, wanted = self._starts[(tenant, key)]
        fact = f"key '{key}' of tenant '{tenant}'"
        if digest is None:
            self._report.add([found("AUD027", START, fact, id)])
        elif digest != wanted:
            self._report.add([found("AUD026", START, fact, id)])


def _grouped(names: Iterable[tuple[str, str]]) -> Iterable[tuple[str, list[str]]]:
    by_tenant: dict[str, list[str]] = {}
    for tenant, name in names:
        by_tenant.setdefault(tenant, []).append(name)
    for tenant, all in by_tenant.items():
        for start in range(0, len(all), NAMES_AT_ONCE):
            yield tenant, all[start : start + NAMES_AT_ONCE]
