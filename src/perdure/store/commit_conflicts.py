"""Commit conflicts: row versions and unique keys decide which units of a batch are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from perdure.journal import ParkedRow
from perdure.journal.notice_routes import FactRoute
from perdure.kernel.ports import Attachments, Conflict, Unit


class Own(NamedTuple):
    """What one unit wants to hold that its aggregate did not hold before: keys of calls, and locks in their order."""

    keys: list[tuple[str, str, str]]
    locks: list[tuple[str, str]]


class Claims(msgspec.Struct):
    """What the units of a batch claim: to be looked up under the transaction's locks."""

    versions: dict[bytes, int] = {}
    """Aggregates, and the version each is expected to have: by the last unit, where several concern the same one."""
    starts: list[tuple[str, str]] = []
    messages: list[tuple[str, str]] = []
    keys: list[tuple[str, str, str]] = []
    entities: list[tuple[str, str, str]] = []
    locks: list[tuple[str, str]] = []
    silent: list[tuple[str]] = []
    """Tenants in which records change without a notice."""
    facts: list[tuple[str, str]] = []
    """Tenants and facts that units stand on, the facts as bodies of notices have them."""
    is_timed: bool = False
    """Whether one of them may not be written before a moment."""
    own: dict[int, Own] = {}
    """By the place of a unit in its batch; most are not among them, since they claim nothing but their version."""


class Standing(msgspec.Struct):
    """What the database said about the claims."""

    now: int = 0
    """What time it is, where one of the units may not be written before a moment."""

    versions: dict[bytes, int] = {}
    starts: dict[tuple[str, str], bytes] = {}
    messages: dict[tuple[str, str], tuple[str, bytes | None]] = {}
    keys: dict[tuple[str, str, str], bytes] = {}
    entities: dict[tuple[str, str, str], int] = {}
    locks: dict[tuple[str, str], bytes] = {}
    watched: set[str] = set()
    """Tenants in which somebody may wait for records, among those where they change without a notice."""
    news: dict[tuple[str, str], set[str]] = {}
    """Notices that nobody has acted on yet, by the facts that units stand on."""
    repeated: set[tuple[bytes | None, str]] = set()
    """Notices that were given before, by who gives them and their id: not written again."""


CALL = "call"
LOCK = "lock"
"""The kind of the rows that say who may change an entity: one for each, whoever holds it."""
OWNED = (CALL, LOCK)
TAKEN = -1
"""The version of what an earlier unit of the same batch changes: nobody can have read the result yet."""


def claims_of(units: Iterable[Unit]) -> Claims:
    claims = Claims()
    versions = claims.versions
    for place, unit in enumerate(units):
        id = unit.id
        if id is not None:
            versions[id] = unit.expected
        if unit.due:
            claims.is_timed = True
        for brought in unit.attachments:
            if brought.inbox or brought.idempotency or brought.entities or brought.grounds:
                break
        else:
            parked = unit.after.parked
            if not (unit.notices or (parked and _owns(parked))):
                continue
        claims.own[place] = _claim(claims, unit)
    return claims


def _owns(parked: tuple[ParkedRow, ...]) -> bool:
    return any(row.kind in OWNED for row in parked)


def _claim(claims: Claims, unit: Unit) -> Own:
    for brought in unit.attachments:
        if brought.idempotency is not None:
            claims.starts.append((unit.tenant, brought.idempotency[0]))
        if brought.inbox is not None:
            claims.messages.append((brought.inbox.tenant, brought.inbox.message_id))
        claims.entities.extend((unit.tenant, write.entity, write.key) for write in brought.entities)
        if brought.grounds is not None:
            claims.facts.extend((unit.tenant, quoted(key)) for key in brought.grounds.keys)
    if unit.is_silent and (unit.tenant,) not in claims.silent:
        claims.silent.append((unit.tenant,))
    for notice in unit.notices:
        claims.messages.append((unit.tenant, notice.message_id))
    own = Own(_new_keys(unit), _new_locks(unit))
    claims.keys.extend(own.keys)
    claims.locks.extend(own.locks)
    return own


def _new_keys(unit: Unit) -> list[tuple[str, str, str]]:
    if not unit.after.parked:
        return []
    before = {(row.step, row.token) for row in unit.before.parked if row.status == 0 and row.kind == CALL}
    return [
        (unit.tenant, row.key, row.name)
        for row in unit.after.parked
        if row.status == 0 and row.kind == CALL and (row.step, row.token) not in before
    ]


def _new_locks(unit: Unit) -> list[tuple[str, str]]:
    if not unit.after.parked:
        return []
    after = {row.key for row in unit.after.parked if row.kind == LOCK}
    return [(unit.tenant, key) for key in sorted(after - {row.key for row in unit.before.parked if row.kind == LOCK})]


def judge(units: Sequence[Unit], claims: Claims, standing: Standing) -> list[Conflict | None]:
    """Per unit, why it may not be written; a unit that may takes its keys from those after it."""
    is_plain = not claims.own and not claims.is_timed
    if is_plain and len(claims.versions) == len(units) and standing.versions == claims.versions:
        return [None] * len(units)  # each has an aggregate of its own, and all stand where they are expected
    own = claims.own.get
    return [_judge(unit, own(place), standing) for place, unit in enumerate(units)]


def passing(units: Sequence[Unit], verdicts: Sequence[Conflict | None]) -> Sequence[Unit]:
    """The units that may be written."""
    if not any(verdicts):
        return units
    return [unit for unit, verdict in zip(units, verdicts, strict=True) if verdict is None]


def _judge(unit: Unit, own: Own | None, standing: Standing) -> Conflict | None:
    id = unit.id
    if id is not None and standing.versions.get(id, 0) != unit.expected:
        return Conflict("version")
    if unit.due > standing.now:
        return Conflict("early")
    if own is not None:
        conflict = _conflict(unit, own, standing)
        if conflict is not None:
            return conflict
        if unit.is_silent and unit.tenant in standing.watched:
            return Conflict("silent")
        _take(unit, own, standing)
    if id is not None and unit.records:
        standing.versions[id] = TAKEN
    return None


def _conflict(unit: Unit, own: Own, standing: Standing) -> Conflict | None:
    claimed: set[tuple[str, ...]] = set()
    for brought in unit.attachments:
        conflict = _brought(unit, brought, standing, claimed)
        if conflict is not None:
            return conflict
    return _key_taken(unit, own, standing, claimed) or _lock_taken(own, standing)


def _brought(unit: Unit, brought: Attachments, standing: Standing, claimed: set[tuple[str, ...]]) -> Conflict | None:
    if brought.idempotency is not None:
        key = brought.idempotency[0]
        holder = standing.starts.get((unit.tenant, key))
        if holder is not None or _is_repeated(claimed, "start", key):
            return Conflict("idempotency", key, holder)
    if brought.inbox is not None:
        message = (brought.inbox.tenant, brought.inbox.message_id)
        known = standing.messages.get(message)
        if known is not None:
            return Conflict("inbox", message[1], known[1], known[0])
        if _is_repeated(claimed, "message", *message):
            return Conflict("inbox", message[1], unit.id)
    for write in brought.entities:
        stored = standing.entities.get((unit.tenant, write.entity, write.key), 0)
        if stored != write.expected or _is_repeated(claimed, "entity", write.entity, write.key):
            return Conflict("entity", f"{write.entity}/{write.key}")
    return _fact_changed(unit, brought, standing)


def _fact_changed(unit: Unit, brought: Attachments, standing: Standing) -> Conflict | None:
    """A notice that was not there when a fact was read: the fact has changed since.

    Of one that was acted on meanwhile the version of the aggregate tells: it was let look.
    """
    if brought.grounds is None:
        return None
    for key in brought.grounds.keys:
        if not standing.news.get((unit.tenant, quoted(key)), _NOTHING) <= brought.grounds.heard:
            return Conflict("facts", key)
    return None


_NOTHING: frozenset[str] = frozenset()


def news_of(rows: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], set[str]]:
    """Notices by tenant and fact, from rows of the gate's query."""
    found: dict[tuple[str, str], set[str]] = {}
    for tenant, fact, message_id in rows:
        found.setdefault((tenant, fact), set()).add(message_id)
    return found


def quoted(key: str) -> str:
    """A fact as the body of a notice has it: a key has no letter that JSON writes otherwise."""
    return f'"{key}"'


def _key_taken(unit: Unit, own: Own, standing: Standing, claimed: set[tuple[str, ...]]) -> Conflict | None:
    for claim in own.keys:
        holder = standing.keys.get(claim)
        if (holder is not None and not _frees(unit, holder, claim)) or _is_repeated(claimed, "key", *claim):
            return Conflict("key", claim[1], holder or unit.id)
    return None


def _lock_taken(own: Own, standing: Standing) -> Conflict | None:
    for claim in own.locks:
        if (holder := standing.locks.get(claim)) is not None:
            return Conflict("key", claim[1], holder)
    return None


def _frees(unit: Unit, holder: bytes, claim: tuple[str, str, str]) -> bool:
    """Whether the key is held by a token of the unit's own aggregate that stops waiting in this unit."""
    if holder != unit.id:
        return False
    held = {(row.step, row.token) for row in unit.before.parked if row.status == 0 and row.key == claim[1]}
    return any((row.step, row.token) in held and row.status != 0 and row.name == claim[2] for row in unit.after.parked)


def _is_repeated(claimed: set[tuple[str, ...]], *claim: str) -> bool:
    """Whether one unit claims the same thing twice."""
    if claim in claimed:
        return True
    claimed.add(claim)
    return False


def _take(unit: Unit, own: Own, standing: Standing) -> None:
    for brought in unit.attachments:
        if brought.idempotency is not None and unit.id is not None:
            standing.starts[(unit.tenant, brought.idempotency[0])] = unit.id
        if brought.inbox is not None:
            standing.messages[(brought.inbox.tenant, brought.inbox.message_id)] = (brought.inbox.answer, unit.id)
        for write in brought.entities:
            standing.entities[(unit.tenant, write.entity, write.key)] = TAKEN
    for notice in unit.notices:
        if isinstance(notice.route, FactRoute):
            for key in notice.route.keys:
                standing.news.setdefault((unit.tenant, quoted(key)), set()).add(notice.message_id)
        if (unit.tenant, notice.message_id) in standing.messages:
            standing.repeated.add((unit.id, notice.message_id))
        else:
            standing.messages[(unit.tenant, notice.message_id)] = ("", unit.id)
    for claim in own.keys:
        assert unit.id is not None
        standing.keys[claim] = unit.id
    for lock in own.locks:
        assert unit.id is not None
        standing.locks[lock] = unit.id
