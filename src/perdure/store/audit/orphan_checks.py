"""Checks what no aggregate answers for: rows without one, messages, entities and their history."""

from __future__ import annotations

from hashlib import sha256

from perdure.kernel.ports import InboxRow
from perdure.store.audit.audit_reader import PAGE, Reader, UnreadableError, plain
from perdure.store.audit.findings import Finding, Report, found
from perdure.store.checksums import is_whole
from perdure.store.ports import Row

MESSAGES = 50
"""Messages looked at together: those that are kept have their data with them."""


async def check_loose(reader: Reader, report: Report) -> None:
    """All of it, one after the other."""
    checks = ((_starts, "idempotency"), (_messages, "inbox"), (_entities, "entity"), (_history, "entity_history"))
    for check, place in checks:
        try:
            await check(reader, report)
        except UnreadableError as error:
            report.add([found("AUD025", place, str(error))])


async def check_stretch(reader: Reader, report: Report, after: bytes, until: bytes) -> None:
    """Find rows of aggregates that are not there, between two ids."""
    for row in await reader.fetch("orphans_between", after=after, until=until, most=PAGE):
        table, id = plain(row)
        report.add([orphaned(table, id)])


def orphaned(table: str, id: bytes) -> Finding:
    return found("AUD024", table, f"table '{table}' has rows of it", id)


async def _starts(reader: Reader, report: Report) -> None:
    after: Row = ("", "")
    while True:
        rows = await reader.fetch("scan_starts", after_tenant=after[0], after_key=after[1], most=PAGE)
        for row in map(plain, rows):
            after = row
            if not row[3]:
                report.add([orphaned("idempotency", row[2])])
        if len(rows) < PAGE:
            return


async def _messages(reader: Reader, report: Report) -> None:
    async for _, *columns, sums, is_there in reader.pages("scan_messages", -(2**63), 0, MESSAGES):
        row = InboxRow(*columns)
        if not is_there:
            report.add([orphaned("inbox", columns[7])])
        if not is_whole(row, sums):
            report.add([found("AUD041", "inbox", f"message '{row.message_id}' of tenant '{row.tenant}'")])
    async for _, tenant, message_id in reader.pages("stuck_messages", -(2**63), 0):
        report.add([found("AUD040", "inbox", f"message '{message_id}' of tenant '{tenant}'")])


async def _entities(reader: Reader, report: Report) -> None:
    key = ("", "", "")
    while True:
        rows = await reader.fetch(
            "scan_entities", after_tenant=key[0], after_entity=key[1], after_key=key[2], most=PAGE
        )  # fmt: skip
        for row in map(plain, rows):
            key = (row[0], row[1], row[2])
            report.entities += 1
            await _check_entity(reader, report, row)
        if len(rows) < PAGE:
            return


async def _check_entity(reader: Reader, report: Report, row: Row) -> None:
    tenant, entity, key, version, is_deleted, data, hash = row
    name = f"{entity} '{key}' of tenant '{tenant}' at version {version}"
    if isinstance(data, str) or sha256(data).digest() != hash:
        report.add([found("AUD030", "entity", name)])
    newest = await reader.fetch("newest_history", tenant=tenant, entity=entity, key=key)
    if newest and plain(newest[0]) == (version, is_deleted, data, hash):
        return
    again = await reader.fetch("read_entity", tenant=tenant, entity=entity, key=key)
    if again and plain(again[0]) == (version, is_deleted, data, hash):  # otherwise it changed while we looked
        report.add([found("AUD031", "entity", name)])


async def _history(reader: Reader, report: Report) -> None:
    key, version = ("", "", ""), 0
    while True:
        rows = await reader.fetch(
            "scan_entity_history", after_tenant=key[0], after_entity=key[1], after_key=key[2], after_version=version,
            most=PAGE,
        )  # fmt: skip
        for tenant, entity, name, number, _, data, hash in map(plain, rows):
            expected = version + 1 if (tenant, entity, name) == key else 1
            place = f"{entity} '{name}' of tenant '{tenant}' at version {number}"
            if number != expected:
                report.add([found("AUD032", "entity_history", f"{place} comes where {expected} should")])
            if isinstance(data, str) or sha256(data).digest() != hash:
                report.add([found("AUD030", "entity_history", place)])
            key, version = (tenant, entity, name), number
        if len(rows) < PAGE:
            return
