"""Judgements: what the guards of one state ask for, and what they say to the facts that were read."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from perdure.errors import Rejection
from perdure.journal.facts import MAX_KEY, fact_kind
from perdure.lifecycles.guards.guard_kind import HOLDS, Judgement
from perdure.lifecycles.guards.guard_table import GuardTable
from perdure.lifecycles.machine.definition import Guard, Lifecycle, Requirement, Transition
from perdure.lifecycles.machine.names import Names
from perdure.lifecycles.machine.state import Blocked, Deadline, FactRead, Instance
from perdure.moments import SECOND

UNANNOUNCED = ("verb",)
"""Kinds of facts whose changes nobody tells: there is nothing to wait for."""
RECORD = "record"
MAX_INTEREST = 500
MAX_MISSING = 50
CLOSED_GUARD = "ClosedGuard"
_encode = msgspec.json.Encoder(order="sorted").encode


class JudgedState(NamedTuple):
    """All requirements of a state, and all transitions out of it by their places, as the facts have them."""

    requirements: tuple[tuple[Requirement, Judgement], ...]
    transitions: tuple[tuple[int, Transition, Judgement], ...]

    @property
    def is_met(self) -> bool:
        return all(judged.holds for _, judged in self.requirements)

    @property
    def changes_at(self) -> int:
        """When time alone may change one of the judgements; 0 when it cannot."""
        judged = (*(each for _, each in self.requirements), *(each for _, _, each in self.transitions))
        return min((each.changes_at for each in judged if each.changes_at), default=0)


def names_of(letters: str, lifecycle: str, subject: str, context: Mapping[str, Any]) -> Names:
    """The names that a definition may use in one instance."""
    return {**context, "subject": subject, "instance_id": letters, "lifecycle": lifecycle}


def guards_of(definition: Lifecycle, state: str) -> list[Guard]:
    found = definition.state(state)
    guards = [each.guard for each in found.requirements] if found is not None else []
    return [*guards, *(each.guard for _, each in definition.leaving(state) if each.guard is not None)]


def needed_facts(table: GuardTable, definition: Lifecycle, state: str, names: Names) -> tuple[str, ...]:
    """The keys of all facts that the guards of a state look at."""
    guards = guards_of(definition, state)
    return tuple(dict.fromkeys(key for each in guards for key in table.facts(each, names)))


def interest_in(table: GuardTable, definition: Lifecycle, state: str, names: Names) -> tuple[str, ...] | str:
    """The facts whose changes concern an instance in a state, or why it cannot wait for them."""
    keys = [key for key in needed_facts(table, definition, state, names) if fact_kind(key) not in UNANNOUNCED]
    if len(keys) > MAX_INTEREST:
        return f"state '{state}' asks for {len(keys)} facts of at most {MAX_INTEREST}"
    long = next((key for key in keys if len(key) > MAX_KEY), None)
    return f"the fact '{long[:80]}…' has a key of more than {MAX_KEY} characters" if long else tuple(keys)


def deadlines_in(definition: Lifecycle, state: str, now: int) -> tuple[Deadline, ...]:
    """The deadlines of a state that is entered now, as absolute times, the first one first."""
    found = [
        Deadline(now + round(each.after_seconds * SECOND), at)
        for at, each in definition.leaving(state, "time")
        if each.after_seconds is not None
    ]
    own = definition.state(state)
    if own is not None and own.timeout_seconds is not None:
        due = now + round(own.timeout_seconds * SECOND)
        if all(each.at != due for each in found):
            found.append(Deadline(due, -1))
    return tuple(sorted(found, key=lambda each: (each.at, each.transition)))


def judge_state(
    table: GuardTable, definition: Lifecycle, state: str, names: Names, facts: Mapping[str, Any], now: int
) -> JudgedState:
    found = definition.state(state)
    requirements = tuple(
        (each, table.judge(each.guard, names, facts, now)) for each in (found.requirements if found is not None else ())
    )
    met = _together([judged for _, judged in requirements])
    transitions = tuple(
        (at, each, _judged(table, each, met, names, facts, now)) for at, each in definition.leaving(state)
    )
    return JudgedState(requirements, transitions)


def _judged(
    table: GuardTable, transition: Transition, met: Judgement, names: Names, facts: Mapping[str, Any], now: int
) -> Judgement:
    own = table.judge(transition.guard, names, facts, now) if transition.guard is not None else HOLDS
    return _together([met, own]) if transition.needs_requirements else own


def _together(judged: list[Judgement]) -> Judgement:
    missing = tuple(text for each in judged for text in each.missing)
    times = min((each.changes_at for each in judged if each.changes_at), default=0)
    return Judgement(all(each.holds for each in judged), missing, times)


def blocked_of(judged: JudgedState) -> tuple[Blocked, ...]:
    """The closed requirements; where all are met, the closed guards of automatic transitions."""
    found = [
        Blocked(each.key, each.blocker, judgement.missing[:MAX_MISSING])
        for each, judgement in judged.requirements
        if not judgement.holds
    ]
    if not found:
        found = [
            Blocked(f"->{each.target}", CLOSED_GUARD, judgement.missing[:MAX_MISSING])
            for _, each, judgement in judged.transitions
            if each.mode == "auto" and not judgement.holds
        ]
    return tuple(found)


def facts_read(facts: Mapping[str, Any]) -> tuple[FactRead, ...]:
    """Facts as entries keep them: of a record its version and the hash of its fields, since no journal is erased."""
    return tuple(FactRead(key, _encode(_kept(key, value))) for key, value in facts.items())


def _kept(key: str, value: Any) -> Any:
    if fact_kind(key) != RECORD or not isinstance(value, Mapping):
        return value
    return {"version": value["version"], "fields": f"sha256:{sha256(_encode(value['fields'])).hexdigest()}"}


def stale(instance: Instance, letters: str) -> Rejection:
    """Facts were read for another round; whoever asks reads them again."""
    return Rejection("wrong_state", "decide", "lifecycle", letters, STALE, "Ask again.")


STALE = "it went on while its facts were read"
