"""Compares the rows a state stands for with the rows that are stored."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from perdure.journal import Machine, Rows
from perdure.store.audit.audit_reader import PAGE, Reader, UnreadableError, plain
from perdure.store.audit.findings import Finding, Report, found
from perdure.store.audit.stored_states import stored_state
from perdure.store.checksums import checked, slot
from perdure.store.ports import Row

CHECKED_TOGETHER = 32


async def compare_rows(reader: Reader, id: bytes, tenant: str, rows: Rows) -> list[Finding]:
    """What differs between derived and stored rows of one aggregate, except timers at times no timer of it is due."""
    parked = [
        (each.step, each.token, tenant, each.name, each.key, slot(each, id), each.status, each.definition, each.kind)
        for each in rows.parked
    ]  # fmt: skip
    jobs = [(each.step, tenant, each.worker, each.definition) for each in rows.jobs]
    incidents = [(each.step, tenant, each.code, each.opened_at) for each in rows.incidents]
    findings = [
        *await _compare(reader, "AUD020", "parked", id, parked),
        *await _compare(reader, "AUD022", "job", id, jobs),
        *await _compare(reader, "AUD023", "incident", id, incidents),
    ]
    documents = [(tenant, *each) for each in rows.documents]
    findings += await _compare(reader, "AUD034", "document", id, documents)
    findings += await _compare(reader, "AUD034", "document_blob", id, [(each.hash, tenant) for each in rows.blobs])
    for due in sorted({each.due for each in rows.timers}):
        timers = [(due, each.step, each.kind, tenant) for each in rows.timers if each.due == due]
        findings += await _compare(reader, "AUD021", "timer", id, timers, due=due)
    return findings


async def _compare(
    reader: Reader, code: str, place: str, id: bytes, derived: Iterable[Row], **parameters: Any
) -> list[Finding]:
    try:
        stored = [plain(row) for row in await reader.fetch(f"{place}_columns", aggregate=id, **parameters)]
    except UnreadableError as error:
        return [found("AUD025", place, str(error), id)]
    wanted = sorted(derived)
    if sorted(stored, key=repr) == sorted(wanted, key=repr):
        return []
    missing = [row for row in wanted if row not in stored]
    surplus = [row for row in stored if row not in wanted]
    return [found(code, place, f"missing {_brief(missing)}, not expected {_brief(surplus)}", id)]


def _brief(rows: list[Row]) -> str:
    if not rows:
        return "nothing"
    shown = ", ".join(str(row)[:200] for row in rows[:2])
    return f"{shown} and {len(rows) - 2} more" if len(rows) > 2 else shown


async def check_timers(reader: Reader, machines: Any, report: Report) -> None:
    """Find timers that no state asks for: the other direction of `compare_rows`."""
    due, id = -(2**63), b""
    while True:
        rows = await reader.fetch("scan_timer_places", after_due=due, after_aggregate=id, most=PAGE)
        places = [plain(row) for row in rows]
        for start in range(0, len(places), CHECKED_TOGETHER):
            checks = [_check_place(reader, machines, *place) for place in places[start : start + CHECKED_TOGETHER]]
            for findings in await asyncio.gather(*checks):
                report.add(findings)
        report.timers += len(places)
        if len(places) < PAGE:
            return
        due, id = places[-1]


async def _check_place(reader: Reader, machines: Any, due: int, id: bytes) -> list[Finding]:
    rows = await reader.fetch("load_aggregate", id=id)
    if not rows:
        return [found("AUD024", "timer", "table 'timer' has rows of it", id)]
    if await _is_surplus(reader, machines, rows, due, id):
        return [found("AUD021", "timer", f"a timer due at {due} that its state does not know", id)]
    return []


async def _is_surplus(reader: Reader, machines: Any, rows: list[Row], due: int, id: bytes) -> bool:
    """Also while others write: a timer counts only when it is still there after its aggregate was read."""
    try:
        loaded = checked(plain(rows[0]))
        machine: Machine[Any, Any, Any] = machines[loaded.kind]
        state = await stored_state(reader, machine, id, loaded.state)
        wanted = {each.due for each in machine.rows(id, state).timers}
    except Exception:  # whatever is wrong with the aggregate itself has been found by its own check
        return False
    if due in wanted:
        return False
    if not await reader.fetch("timer_columns", due=due, aggregate=id):
        return False
    return bool(plain((await reader.fetch("load_aggregate", id=id))[0])[3] == loaded.version)
