"""Tables of unowned rows: how the row that a record tells of is looked up, and what may be told of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple, Protocol

from perdure.journal.row_digests import ROW_PREFIX, RowRecord
from perdure.kernel.ports import InboxRow
from perdure.kernel.unit_row_digests import MESSAGE
from perdure.sources import Micros
from perdure.store.audit.audit_reader import PAGE, Reader, plain
from perdure.store.audit.message_audit import message_digests
from perdure.store.idempotent_answers import ANSWERS_KEPT, CLAIMED
from perdure.store.row_journal import (
    ANSWER,
    CURSOR,
    DEFINITION,
    LEASE,
    OUTBOX,
    QUARANTINE,
    SERVES,
    answer_digest,
    cursor_digest,
    definition_digest,
    lease_digest,
    outbox_digest,
    quarantine_digest,
    serves_digest,
)

Key = tuple[str, ...]


class Standing(NamedTuple):
    """A row as stored: the digests that may be told of it, unless an aggregate's record tells of it by now."""

    digests: list[bytes]
    is_told_elsewhere: bool = False


class Table(Protocol):
    """One table: its rows by their keys."""

    async def look(self, reader: Reader, key: Key) -> Standing | None:
        """The row under a key; None when there is none."""
        ...

    def keys(self, reader: Reader) -> AsyncIterator[Key]:
        """The keys of all rows that the journal must tell of."""
        ...

    def may_be_gone(self, record: RowRecord, now: Micros) -> bool:
        """Whether a row that was told of may have been removed without a record by now."""
        ...


class _Kept:
    """Rows that are never removed in silence."""

    def may_be_gone(self, record: RowRecord, now: Micros) -> bool:
        return False


class Messages(_Kept):
    """Messages that came when no aggregate was concerned; `check_messages` reads all of them."""

    async def look(self, reader: Reader, key: Key) -> Standing | None:
        rows = await reader.fetch("told_message", tenant=key[0], message_id=key[1])
        if not rows:
            return None
        *columns, told_by = plain(rows[0])
        return Standing(message_digests(InboxRow(*columns)), not told_by.startswith(ROW_PREFIX))

    async def keys(self, reader: Reader) -> AsyncIterator[Key]:
        for key in list[Key]():
            yield key


class Definitions(_Kept):
    """Definitions of verbs."""

    async def look(self, reader: Reader, key: Key) -> Standing | None:
        rows = await reader.fetch("whole_definition", hash=bytes.fromhex(key[0]))
        return Standing([definition_digest(*plain(rows[0]))]) if rows else None

    async def keys(self, reader: Reader) -> AsyncIterator[Key]:
        async for row in reader.pages("scan_definitions", b"", 0):
            yield (row[0].hex(),)


class Answers:
    """Answers to requests; one is forgotten after a day, and a claim of who is about to answer lasts seconds."""

    async def look(self, reader: Reader, key: Key) -> Standing | None:
        rows = await reader.fetch("read_answer", tenant=key[0], principal=key[1], key=key[2])
        if not rows or rows[0][1] == CLAIMED:
            return None
        return Standing([answer_digest(key[0], key[1], key[2], *plain(rows[0]))])

    async def keys(self, reader: Reader) -> AsyncIterator[Key]:
        after: Key = ("", "", "")
        while True:
            rows = await reader.fetch(
                "scan_answers", after_tenant=after[0], after_principal=after[1], after_key=after[2], most=PAGE
            )
            for row in map(plain, rows):
                after = row[:3]
                if row[4] != CLAIMED:
                    yield after
            if len(rows) < PAGE:
                return

    def may_be_gone(self, record: RowRecord, now: Micros) -> bool:
        return record.at <= now - ANSWERS_KEPT


class Cursors(_Kept):
    """How far readers of the feed have come."""

    async def look(self, reader: Reader, key: Key) -> Standing | None:
        rows = await reader.fetch("read_cursor", tenant=key[0], name=key[1])
        return Standing([cursor_digest(key[0], key[1], rows[0][0])]) if rows else None

    async def keys(self, reader: Reader) -> AsyncIterator[Key]:
        after: Key = ("", "")
        while True:
            rows = await reader.fetch("scan_cursors", after_tenant=after[0], after_name=after[1], most=PAGE)
            for row in map(plain, rows):
                after = row[:2]
                yield after
            if len(rows) < PAGE:
                return


class Leases(_Kept):
    """Leases of processes. A fenced lease may never have begun, and a restored copy fences all leases at once."""

    async def look(self, reader: Reader, key: Key) -> Standing | None:
        rows = await reader.fetch("whole_worker", number=int(key[0]))
        if not rows:
            return None
        number, host, process, schema, is_fenced = plain(rows[0])
        return Standing([lease_digest(number, host, process, schema, each) for each in range(is_fenced + 1)])

    async def keys(self, reader: Reader) -> AsyncIterator[Key]:
        async for number, *_, is_fenced in reader.pages("scan_workers", -(2**63), 0):
            if not is_fenced:
                yield (str(number),)


class Served:
    """The definitions that processes can run, as long as their leases last."""

    async def look(self, reader: Reader, key: Key) -> Standing | None:
        lease = await reader.fetch("whole_worker", number=int(key[0]))
        found = [row[0] for row in await reader.fetch("serves_of", worker=int(key[0]))]
        if not found and (not lease or lease[0][-1]):
            return None
        return Standing([serves_digest(int(key[0]), found)])

    async def keys(self, reader: Reader) -> AsyncIterator[Key]:
        async for (worker,) in reader.pages("scan_serves", -(2**63), 0):
            yield (str(worker),)

    def may_be_gone(self, record: RowRecord, now: Micros) -> bool:
        return True


class Quarantined(_Kept):
    """Notes of damage."""

    async def look(self, reader: Reader, key: Key) -> Standing | None:
        rows = await reader.fetch("whole_quarantine", aggregate=bytes.fromhex(key[0]), place=key[1])
        return Standing([quarantine_digest(*plain(rows[0]))]) if rows else None

    async def keys(self, reader: Reader) -> AsyncIterator[Key]:
        after: tuple[bytes, str] = (b"", "")
        while True:
            rows = await reader.fetch("scan_quarantine", after_aggregate=after[0], after_place=after[1], most=PAGE)
            for row in map(plain, rows):
                after = row[:2]
                yield (after[0].hex(), after[1])
            if len(rows) < PAGE:
                return


class OutboxMessages:
    """Messages of channels: others read and remove them, and nobody changes or adds any."""

    async def look(self, reader: Reader, key: Key) -> Standing | None:
        rows = await reader.fetch("whole_outbox_message", tenant=key[0], effect_id=key[1])
        return Standing([outbox_digest(*plain(rows[0]))]) if rows else None

    async def keys(self, reader: Reader) -> AsyncIterator[Key]:
        after: Key = ("", "")
        while True:
            rows = await reader.fetch("scan_outbox", after_tenant=after[0], after_effect=after[1], most=PAGE)
            for row in map(plain, rows):
                after = row[:2]
                yield after
            if len(rows) < PAGE:
                return

    def may_be_gone(self, record: RowRecord, now: Micros) -> bool:
        return True


TABLES: dict[str, Table] = {
    MESSAGE: Messages(),
    DEFINITION: Definitions(),
    ANSWER: Answers(),
    CURSOR: Cursors(),
    LEASE: Leases(),
    SERVES: Served(),
    QUARANTINE: Quarantined(),
    OUTBOX: OutboxMessages(),
}
