"""Checks unowned rows: the newest record of each says how the row stands, in both directions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple

from perdure.journal.row_digests import ROW_PREFIX, RowRecord, read_row, row_prefix
from perdure.sources import Micros
from perdure.store.audit.audit_reader import PAGE, Reader, plain
from perdure.store.audit.findings import Report, found
from perdure.store.audit.journalled_rows import Epoch
from perdure.store.audit.unowned_row_tables import TABLES, Standing, Table
from perdure.store.row_journal import SEAL_KEY, STORE

WITHOUT_ROWS = frozenset({STORE, SEAL_KEY})
"""Tables that are none: their records are all there is."""
LOOKS = 8
"""How often a row that changes while it is checked is checked again."""
BEYOND = b"\xff" * 8
"""After every id that begins with the same prefix."""


class Told(NamedTuple):
    """A record of a row and its place in the journal."""

    position: int
    record: RowRecord


class RowAudit:
    """Reads the records of rows, then the rows."""

    def __init__(self, reader: Reader, report: Report, epoch: Epoch, now: Micros) -> None:
        self._reader = reader
        self._report = report
        self._epoch = epoch
        self._now = now

    async def check(self) -> None:
        async for prefix, newest in self._rows():
            for told in newest.values():
                await self._check_row(prefix, told)
        for name, table in TABLES.items():
            async for key in table.keys(self._reader):
                if not await self._reader.fetch("is_row_told", **_bounds(row_prefix(name, key))):
                    self._unknown(name, key)

    def _unknown(self, table: str, key: tuple[str, ...]) -> None:
        if self._epoch.began:
            self._report.before_anchors += 1
        else:
            self._report.add([found("AUD028", table, _named(key))])

    async def _rows(self) -> AsyncIterator[tuple[bytes, dict[tuple[str, ...], Told]]]:
        """The newest records of each row; rows whose ids begin alike come together."""
        prefix, newest = b"", dict[tuple[str, ...], Told]()
        async for row in self._reader.pages("scan_row_records", b"", 0, PAGE, rows=ROW_PREFIX):
            if (told := await self._read(*row)) is None:
                continue
            begins = row_prefix(told.record.table, told.record.key)
            if begins != prefix:
                if newest:
                    yield prefix, newest
                prefix, newest = begins, {}
            _take(newest, told)
        if newest:
            yield prefix, newest

    async def _read(self, id: bytes, sequence: int, body: bytes, hash: bytes, position: int) -> Told | None:
        record = read_row(id, body, hash) if sequence == 1 else None
        if record is not None and (record.table in TABLES or record.table in WITHOUT_ROWS):
            return Told(position, record)
        if record is None and await self._reader.fetch("load_aggregate", id=id):
            return None  # an aggregate whose id happens to look like that of a row
        self._report.add([found("AUD029", "journal", f"record {sequence}", id, sequence)])
        return None

    async def _check_row(self, prefix: bytes, told: Told) -> None:
        table = TABLES.get(told.record.table)
        if table is None:
            return
        key = told.record.key
        for _ in range(LOOKS):
            standing = await table.look(self._reader, key)
            code = _judge(table, told.record, standing, self._now)
            if not code:
                return
            latest = await self._newest(prefix, told)
            if latest == told:
                self._report.add([found(code, told.record.table, _named(key))])
                return
            told = latest

    async def _newest(self, prefix: bytes, told: Told) -> Told:
        newest = {(told.record.table, *told.record.key): told}
        for row in map(plain, await self._reader.fetch("row_records_between", **_bounds(prefix))):
            record = read_row(row[0], row[2], row[3])
            if record is not None:
                _take(newest, Told(row[4], record))
        return newest[(told.record.table, *told.record.key)]


def _judge(table: Table, record: RowRecord, standing: Standing | None, now: Micros) -> str:
    """The code of what is wrong with a row; empty when it stands as told."""
    if standing is None:
        return "AUD027" if record.digest and not table.may_be_gone(record, now) else ""
    if standing.is_told_elsewhere or record.digest in standing.digests:
        return ""
    return "AUD026" if record.digest else "AUD028"


def _take(newest: dict[tuple[str, ...], Told], told: Told) -> None:
    key = (told.record.table, *told.record.key)
    if key not in newest or newest[key].position < told.position:
        newest[key] = told


def _bounds(prefix: bytes) -> dict[str, bytes]:
    return {"after": prefix, "until": prefix + BEYOND}


def _named(key: tuple[str, ...]) -> str:
    return " ".join(f"'{part}'" for part in key)
