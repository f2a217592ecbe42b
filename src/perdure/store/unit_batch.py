"""A batch of units as rows per query: computed once, written by either store in the same order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import Any

from perdure.journal import ParkedRow, Rows
from perdure.journal.row_digests import row_record
from perdure.kernel.ports import Attachments, EntityWrite, InboxRow, Unit
from perdure.kernel.unit_row_digests import MESSAGE, message_digest, notice_row, settled_digest
from perdure.store.checksums import checksum, message_sums, slot

ORDER = (
    "put_aggregate", "put_parts", "add_records", "add_row_records", "erase_payloads", "add_payloads", "remove_timers",
    "add_timers", "remove_jobs", "put_jobs", "remove_incidents", "put_incidents", "remove_parked", "put_parked",
    "add_idempotency", "add_inbox", "settle_inbox", "remove_index", "add_index", "put_entities", "add_entity_history",
    "put_documents", "remove_blobs", "add_blobs", "erase_texts", "remove_texts", "add_texts",
)  # fmt: skip
"""The order statements run in: the same everywhere, so that overlapping batches cannot deadlock."""
_PLACE = {name: place for place, name in enumerate(ORDER)}

Batch = dict[str, list[tuple[Any, ...]]]
Blob = bytes | bytearray


def batch_of(units: Sequence[Unit], repeated: Collection[tuple[bytes | None, str]] = (), blob: Blob = b"") -> Batch:
    """Rows per query name, in their order; only queries that have rows are named. Notices given before are left out.

    `blob` is empty, and of the type most bytes of a row are given in: bytes, or what a driver takes with less ado.
    """
    batch: Batch = defaultdict(list)
    aggregates, journal, payloads = batch["put_aggregate"], batch["add_records"], batch["add_payloads"]
    for unit in units:
        id = unit.id
        place = None if id is None else blob + id
        is_plan, is_first = 0, True
        for brought in unit.attachments:
            if (
                brought.index or brought.inbox or brought.settles or brought.idempotency or brought.entities
                or brought.erases or brought.reindexes or brought.is_plan or brought.texts or brought.dispatched
            ):  # fmt: skip
                is_plan |= _cargo(batch, unit, place, brought)
            for hash, data in brought.payloads:
                row = (place, blob + hash, blob + data)
                if is_first or row not in payloads[-2:]:
                    payloads.append(row)
                is_first = False
        if unit.records and id is not None and place is not None:
            for record in unit.records:
                stored = blob + record.hash
                journal.append((place, record.sequence, blob + record.body, stored))
            tenant, kind, version, status, ended_at = unit.tenant, unit.kind, unit.version, unit.status, unit.ended_at
            state, head = unit.state, unit.head
            check = blob + checksum(id, tenant, kind, version, status, ended_at, state, head)
            if record.hash is not head:
                stored = blob + head
            aggregates.append((place, tenant, kind, version, status, ended_at, blob + state, stored, check, is_plan))
            if unit.before is not unit.after:
                _rows(batch, tenant, place, unit.before, unit.after)
            for number, body in unit.parts:
                batch["put_parts"].append((place, number, blob + body))
        if unit.notices:
            _notices(batch, unit, repeated)
    return {name: rows for name in sorted(batch, key=_PLACE.__getitem__) if (rows := batch[name])}


def _notices(batch: Batch, unit: Unit, repeated: Collection[tuple[bytes | None, str]]) -> None:
    for notice in unit.notices:
        if (unit.id, notice.message_id) not in repeated:
            _arrival(batch, unit, notice_row(unit.tenant, unit.id, unit.at, notice))


def _rows(batch: Batch, tenant: str, id: Blob, before: Rows, after: Rows) -> None:
    if before.jobs is not after.jobs:
        _by_step(batch["remove_jobs"], batch["put_jobs"], tenant, id, before.jobs, after.jobs)
    if before.parked is not after.parked:
        _parked_rows(batch, tenant, id, before.parked, after.parked)
    if before.timers is not after.timers:
        for timer in before.timers:
            if timer not in after.timers:
                batch["remove_timers"].append((timer.due, id, timer.step, timer.kind))
        for timer in after.timers:
            if timer not in before.timers:
                batch["add_timers"].append((timer.due, id, timer.step, timer.kind, tenant))
    if before.incidents is not after.incidents:
        _by_step(batch["remove_incidents"], batch["put_incidents"], tenant, id, before.incidents, after.incidents)
    if before.documents != after.documents:
        batch["put_documents"].extend((id, tenant, *row) for row in after.documents)
    if before.blobs != after.blobs:
        batch["remove_blobs"].extend((id, row.hash) for row in before.blobs if row not in after.blobs)
        batch["add_blobs"].extend((id, row.hash, tenant) for row in after.blobs if row not in before.blobs)


def _by_step(
    removed: list[tuple[Any, ...]],
    put: list[tuple[Any, ...]],
    tenant: str,
    id: Blob,
    before: tuple[Any, ...],
    after: tuple[Any, ...],
) -> None:
    """Rows of which a step has at most one: gone, or as they are now."""
    if before:
        steps = [row[0] for row in after] if after else ()
        for row in before:
            if row[0] not in steps:
                removed.append((id, row[0]))
    for row in after:
        if row not in before:
            step, first, second = row
            put.append((id, step, tenant, first, second))


def _parked_rows(
    batch: Batch, tenant: str, id: Blob, before: tuple[ParkedRow, ...], after: tuple[ParkedRow, ...]
) -> None:
    if before:
        kept = set(after)
        for row in before:
            if row.kind != "call" and row not in kept:
                batch["remove_parked"].append((id, row.step, row.token))
        known = set(before)
        after = tuple([row for row in after if row not in known])
    # A token that stops waiting frees its key before another takes it.
    for row in sorted(after, key=lambda row: row.status == 0) if len(after) > 1 else after:
        step, token, name, key, status, definition, kind = row
        batch["put_parked"].append((id, step, token, tenant, name, key, slot(row, id), status, definition, kind))


def _cargo(batch: Batch, unit: Unit, id: Blob | None, brought: Attachments) -> int:
    """Rows of what a command brings beside payloads, which few do; returns 1 when a plan begins."""
    tenant, indexed = unit.tenant, batch["add_index"]
    if brought.erases:
        # Data that the same unit erases is never written.
        _drop(batch["add_payloads"], 0, id)
        _drop(indexed, -1, id)
        batch["erase_payloads"].append((id,))
        if unit.after.documents:
            _drop(batch["add_texts"], 0, id)
            batch["erase_texts"].append((id,))
    if brought.erases or brought.reindexes:
        batch["remove_index"].append((id,))
    for index in brought.index:
        indexed.append((tenant, *index, id))
    if brought.inbox is not None:
        _arrival(batch, unit, brought.inbox)
    for settled in (brought.settles, brought.dispatched):
        if settled is not None:
            digest = b"" if unit.records else settled_digest(*settled)
            batch["settle_inbox"].append((*settled, *_told(batch, unit, settled, digest)))
    if brought.idempotency is not None:
        batch["add_idempotency"].append((tenant, brought.idempotency[0], id, brought.idempotency[1]))
    for write in brought.entities:
        _entity(batch, unit, write)
    for number, words in brought.texts:
        batch["remove_texts"].append((id, number))
        batch["add_texts"].append((id, number, words))
    return int(brought.is_plan)


def _arrival(batch: Batch, unit: Unit, row: InboxRow) -> None:
    told = _told(batch, unit, (row.tenant, row.message_id), b"" if unit.records else message_digest(row))
    batch["add_inbox"].append((*row, message_sums(row), *told))


def _told(batch: Batch, unit: Unit, message: tuple[str, str], digest: bytes) -> tuple[bytes, int]:
    """The record that tells of a message: the unit's last one, or one of its own where the unit has none."""
    if unit.records and unit.id is not None:
        return unit.id, unit.version
    id, body, hash = row_record(MESSAGE, message, digest, unit.at)
    batch["add_row_records"].append((id, 1, body, hash))
    return id, 1


def _drop(rows: list[tuple[Any, ...]], column: int, id: Blob | None) -> None:
    while rows and rows[-1][column] is id:
        rows.pop()


def _entity(batch: Batch, unit: Unit, write: EntityWrite) -> None:
    version, hash, deleted = write.expected + 1, sha256(write.data).digest(), int(write.is_deleted)
    row = (unit.tenant, write.entity, write.key, version, deleted, write.data, hash)
    batch["put_entities"].append(row)
    batch["add_entity_history"].append((*row, unit.id, unit.at, write.principal))
