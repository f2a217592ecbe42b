"""Checks what no aggregate answers for: rows without one, messages, entities and their history."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from hashlib import sha256

from perdure.journal.row_digests import ROW_PREFIX
from perdure.kernel.unit_row_digests import START, start_digest
from perdure.sources import Micros
from perdure.store.audit.audit_reader import PAGE, Reader, UnreadableError, plain
from perdure.store.audit.erased_answer_audit import check_answers
from perdure.store.audit.erased_ids import Machines
from perdure.store.audit.findings import Finding, Report, found, orphaned
from perdure.store.audit.journalled_rows import Epoch, anchors_in
from perdure.store.audit.message_audit import check_messages
from perdure.store.audit.unowned_row_audit import RowAudit
from perdure.store.migrations import newest
from perdure.store.ports import Row
from perdure.store.queries import Dialect


async def check_loose(reader: Reader, report: Report, epoch: Epoch, now: Micros, machines: Machines) -> None:
    """All of it, one after the other."""
    checks: dict[str, Callable[[], Awaitable[None]]] = {
        "idempotency": lambda: _starts(reader, report, epoch),
        "inbox": lambda: check_messages(reader, report, epoch),
        "entity": lambda: _entities(reader, report),
        "entity_history": lambda: _history(reader, report),
        "journal": lambda: RowAudit(reader, report, epoch, now).check(),
        "answer": lambda: check_answers(reader, report, machines),
        "meta": lambda: _facts(reader, report),
    }
    for place, check in checks.items():
        try:
            await check()
        except UnreadableError as error:
            report.add([found("AUD025", place, str(error))])


async def check_stretch(reader: Reader, report: Report, after: bytes, until: bytes) -> None:
    """Find rows of aggregates that are not there, between two ids."""
    for row in await reader.fetch("orphans_between", after=after, until=until, rows=ROW_PREFIX, most=PAGE):
        table, id = plain(row)
        report.add([orphaned(table, id)])


async def _starts(reader: Reader, report: Report, epoch: Epoch) -> None:
    after: Row = ("", "")
    while True:
        rows = await reader.fetch("scan_starts", after_tenant=after[0], after_key=after[1], most=PAGE)
        for row in map(plain, rows):
            after = row
            tenant, key, id, request, is_there, body = row
            if not is_there:
                report.add([orphaned("idempotency", id)])
            elif not _is_start(tenant, key, id, request, body):
                await _unknown(report, epoch, found("AUD028", "idempotency", f"key '{key}' of tenant '{tenant}'", id))
        if len(rows) < PAGE:
            return


def _is_start(tenant: str, key: str, id: bytes, request: bytes, body: bytes | None) -> bool:
    digest = start_digest(tenant, key, id, request)
    return any(each == (START, key, digest) for each in anchors_in(body))


async def _unknown(report: Report, epoch: Epoch, finding: Finding) -> None:
    if await epoch.is_older(finding.id):
        report.before_anchors += 1
    else:
        report.add([finding])


async def _facts(reader: Reader, report: Report) -> None:
    """The facts about the store itself: its schema, and on Postgres the base of its transactions."""
    dialect: Dialect = "postgres" if reader.driver.dialect == "postgres" else "sqlite"
    facts: dict[str, str] = dict(map(plain, await reader.fetch("scan_meta")))
    schema = facts.pop("schema", "")
    if schema != str(newest(dialect)):
        report.add([found("AUD026", "meta", f"the schema is said to be '{schema}'")])
    if dialect == "postgres":
        base = facts.pop("journal_base", "")
        if not base.isdigit() or not await reader.fetch("is_journal_base", value=int(base)):
            report.add([found("AUD026", "meta", f"the base of transactions is said to be '{base}'")])
    report.add([found("AUD028", "meta", f"'{name}'") for name in sorted(facts)])


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
            break
    await _heirless(reader, report)


async def _check_entity(reader: Reader, report: Report, row: Row) -> None:
    tenant, entity, key, version, is_deleted, data, hash = row
    name = f"{entity} '{key}' of tenant '{tenant}' at version {version}"
    if not _is_whole(data, hash):
        report.add([found("AUD030", "entity", name)])
    newest = await reader.fetch("newest_history", tenant=tenant, entity=entity, key=key)
    if newest and plain(newest[0]) == (version, is_deleted, data, hash):
        return
    again = await reader.fetch("read_entity", tenant=tenant, entity=entity, key=key)
    if again and plain(again[0]) == (version, is_deleted, data, hash):  # otherwise it changed while we looked
        report.add([found("AUD031", "entity", name)])


def _is_whole(data: bytes | str, hash: bytes) -> bool:
    """Whether bytes have their hash, or are gone: whether they were erased is asked where their call is checked."""
    return not isinstance(data, str) and (not data or sha256(data).digest() == hash)


async def _heirless(reader: Reader, report: Report) -> None:
    key = ("", "", "")
    while True:
        rows = await reader.fetch(
            "heirless_history", after_tenant=key[0], after_entity=key[1], after_key=key[2], most=PAGE
        )  # fmt: skip
        for key in map(plain, rows):
            report.add([found("AUD033", "entity", f"{key[1]} '{key[2]}' of tenant '{key[0]}'")])
        if len(rows) < PAGE:
            return


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
            if not _is_whole(data, hash):
                report.add([found("AUD030", "entity_history", place)])
            key, version = (tenant, entity, name), number
        if len(rows) < PAGE:
            return
