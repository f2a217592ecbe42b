"""The gate: row versions and unique keys decide which units of a batch may be written."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from perdure.kernel.ports import Conflict, Unit


class Claims(msgspec.Struct):
    """What the units of a batch claim: to be looked up under the transaction's locks."""

    ids: list[tuple[bytes]] = []
    starts: list[tuple[str, str]] = []
    messages: list[tuple[str, str]] = []
    keys: list[tuple[str, str, str]] = []
    entities: list[tuple[str, str, str]] = []


class Standing(msgspec.Struct):
    """What the database said about the claims."""

    versions: dict[bytes, int] = {}
    starts: dict[tuple[str, str], bytes] = {}
    messages: dict[tuple[str, str], tuple[str, bytes | None]] = {}
    keys: dict[tuple[str, str, str], bytes] = {}
    entities: dict[tuple[str, str, str], int] = {}


def claims_of(units: Iterable[Unit]) -> Claims:
    claims = Claims()
    for unit in units:
        if unit.id is not None:
            claims.ids.append((unit.id,))
        for brought in unit.attachments:
            if brought.idempotency is not None:
                claims.starts.append((unit.tenant, brought.idempotency[0]))
            if brought.inbox is not None:
                claims.messages.append((brought.inbox.tenant, brought.inbox.message_id))
            claims.entities.extend((unit.tenant, write.entity, write.key) for write in brought.entities)
        for notice in unit.notices:
            claims.messages.append((unit.tenant, notice.message_id))
        claims.keys.extend(_new_keys(unit))
    return claims


def _new_keys(unit: Unit) -> list[tuple[str, str, str]]:
    if not unit.after.parked:
        return []
    before = {(row.step, row.token) for row in unit.before.parked if row.status == 0}
    return [
        (unit.tenant, row.key, row.name)
        for row in unit.after.parked
        if row.status == 0 and (row.step, row.token) not in before
    ]


def judge(units: list[Unit], standing: Standing) -> list[Conflict | None]:
    """Per unit, why it may not be written; a unit that may takes its keys from those after it."""
    return [_judge(unit, standing) for unit in units]


def _judge(unit: Unit, standing: Standing) -> Conflict | None:
    conflict = _conflict(unit, standing)
    if conflict is None:
        _take(unit, standing)
    return conflict


def _conflict(unit: Unit, standing: Standing) -> Conflict | None:
    if unit.id is not None and standing.versions.get(unit.id, 0) != unit.expected:
        return Conflict("version")
    for brought in unit.attachments:
        if brought.idempotency is not None:
            key = brought.idempotency[0]
            holder = standing.starts.get((unit.tenant, key))
            if holder is not None:
                return Conflict("idempotency", key, holder)
        if brought.inbox is not None:
            known = standing.messages.get((brought.inbox.tenant, brought.inbox.message_id))
            if known is not None:
                return Conflict("inbox", brought.inbox.message_id, known[1], known[0])
        for write in brought.entities:
            if standing.entities.get((unit.tenant, write.entity, write.key), 0) != write.expected:
                return Conflict("entity", f"{write.entity}/{write.key}")
    for claim in _new_keys(unit):
        if claim in standing.keys:
            return Conflict("key", claim[1], standing.keys[claim])
    return None


def _take(unit: Unit, standing: Standing) -> None:
    if unit.id is not None:
        standing.versions[unit.id] = unit.version
    for brought in unit.attachments:
        if brought.idempotency is not None and unit.id is not None:
            standing.starts[(unit.tenant, brought.idempotency[0])] = unit.id
        if brought.inbox is not None:
            standing.messages[(brought.inbox.tenant, brought.inbox.message_id)] = (brought.inbox.answer, unit.id)
        for write in brought.entities:
            standing.entities[(unit.tenant, write.entity, write.key)] = write.expected + 1
    for claim in _new_keys(unit):
        assert unit.id is not None
        standing.keys[claim] = unit.id
