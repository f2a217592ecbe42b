"""A batch of units as rows per query: computed once, written by either store in the same order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import Any

from perdure.kernel.ports import PENDING, Attachments, InboxRow, Unit
from perdure.store.checks import checksum, message_sums, slot

ORDER = (
    "put_aggregate", "put_parts", "add_records", "erase_payloads", "add_payloads", "remove_timers", "add_timers",
    "remove_jobs", "put_jobs", "remove_incidents", "put_incidents", "remove_parked", "put_parked", "add_idempotency",
    "add_inbox", "settle_inbox", "remove_index", "add_index", "put_entities", "add_entity_history",
)  # fmt: skip
"""The order statements run in: the same everywhere, so that overlapping batches cannot deadlock."""

Batch = dict[str, list[tuple[Any, ...]]]


def batch_of(units: Sequence[Unit], repeated: Collection[tuple[bytes | None, str]] = ()) -> Batch:
    """Rows per query name; only queries that have rows are named. Notices given before are left out."""
    batch: Batch = {}
    for unit in units:
        if unit.id is not None:
            _aggregate(batch, unit)
        erased = -1
        for number, brought in enumerate(unit.attachments):
            if brought.erases:
                erased = number
        for number, brought in enumerate(unit.attachments):
            _brought(batch, unit, brought, is_erased=number < erased)
        for notice in unit.notices:
            if (unit.id, notice.message_id) in repeated:
                continue
            row = InboxRow(unit.tenant, notice.message_id, notice.kind, "", unit.at, PENDING, "", unit.id, None)
            _add(batch, "add_inbox", (*row, message_sums(row)))
    return batch


def _add(batch: Batch, query: str, row: tuple[Any, ...]) -> None:
    rows = batch.get(query)
    if rows is None:
        batch[query] = [row]
    else:
        rows.append(row)


def _aggregate(batch: Batch, unit: Unit) -> None:
    id = unit.id
    assert id is not None
    if not unit.records:
        return
    check = checksum(
        id, unit.tenant, unit.kind, unit.version, unit.status, unit.ended_at, unit.state, unit.head
    )  # fmt: skip
    _add(
        batch, "put_aggregate",
        (
            id, unit.tenant, unit.kind, unit.version, unit.status, unit.ended_at, unit.state, unit.head, check,
            int(any(brought.is_plan for brought in unit.attachments)),
        ),
    )  # fmt: skip
    for number, body in unit.parts:
        _add(batch, "put_parts", (id, number, body))
    for record in unit.records:
        _add(batch, "add_records", (id, *record))
    if unit.before != unit.after:
        _rows(batch, unit, id)


def _rows(batch: Batch, unit: Unit, id: bytes) -> None:
    before, after, tenant = unit.before, unit.after, unit.tenant
    if before.parked != after.parked:
        _parked_rows(batch, unit, id)
    for timer in before.timers:
        if timer not in after.timers:
            _add(batch, "remove_timers", (timer.due, id, timer.step, timer.kind))
    for timer in after.timers:
        if timer not in before.timers:
            _add(batch, "add_timers", (timer.due, id, timer.step, timer.kind, tenant))
    if before.jobs != after.jobs:
        _by_step(batch, unit, ("remove_jobs", "put_jobs"), before.jobs, after.jobs)
    if before.incidents != after.incidents:
        _by_step(batch, unit, ("remove_incidents", "put_incidents"), before.incidents, after.incidents)


def _by_step(
    batch: Batch, unit: Unit, queries: tuple[str, str], before: tuple[Any, ...], after: tuple[Any, ...]
) -> None:
    """Rows of which a step has at most one: gone, or as they are now."""
    remove, put = queries
    steps = {row.step for row in after}
    for row in before:
        if row.step not in steps:
            _add(batch, remove, (unit.id, row.step))
    for row in after:
        if row not in before:
            _add(batch, put, (unit.id, row.step, unit.tenant, *row[1:]))


def _parked_rows(batch: Batch, unit: Unit, id: bytes) -> None:
    known, kept = set(unit.before.parked), set(unit.after.parked)
    changed = [row for row in unit.after.parked if row not in known]
    for row in unit.before.parked:
        if row.kind != "call" and row not in kept:
            _add(batch, "remove_parked", (id, row.step, row.token))
    # A token that stops waiting frees its key before another takes it.
    for row in sorted(changed, key=lambda row: row.status == 0):
        step, token, name, key, status, definition, kind = row
        _add(
            batch, "put_parked", (id, step, token, unit.tenant, name, key, slot(row, id), status, definition, kind)
        )  # fmt: skip


def _brought(batch: Batch, unit: Unit, brought: Attachments, *, is_erased: bool) -> None:
    """Rows of what one command brought; data that a later command of the same unit erases is never written."""
    id, tenant = unit.id, unit.tenant
    if brought.erases:
        _add(batch, "erase_payloads", (id,))
    for hash, data in () if is_erased else brought.payloads:
        row = (id, hash, data)
        if row not in batch.get("add_payloads", ())[-2:]:
            _add(batch, "add_payloads", row)
    if brought.inbox is not None:
        _add(batch, "add_inbox", (*brought.inbox, message_sums(brought.inbox)))
    if brought.settles is not None:
        _add(batch, "settle_inbox", brought.settles)
    if brought.idempotency is not None:
        _add(batch, "add_idempotency", (tenant, brought.idempotency[0], id, brought.idempotency[1]))
    if brought.erases or brought.reindexes:
        _add(batch, "remove_index", (id,))
    for index in () if is_erased else brought.index:
        _add(batch, "add_index", (tenant, *index, id))
    for write in brought.entities:
        version, hash = write.expected + 1, sha256(write.data).digest()
        deleted = int(write.is_deleted)
        _add(batch, "put_entities", (tenant, write.entity, write.key, version, deleted, write.data, hash))
        _add(
            batch, "add_entity_history",
            (tenant, write.entity, write.key, version, deleted, write.data, hash, id, unit.at, write.principal),
        )  # fmt: skip
