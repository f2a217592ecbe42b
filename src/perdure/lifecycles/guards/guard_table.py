"""The table of guards: every kind by its name, and what a guard with others inside asks for and says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from perdure.journal.facts import fact_kind
from perdure.lifecycles.guards import (
    custom,
    document_count,
    document_exists,
    document_set,
    field_present,
    field_value,
    lifecycle_state,
    runbook_state,
)
from perdure.lifecycles.guards.field_present import CONTEXT
from perdure.lifecycles.guards.guard_kind import Facts, GuardKind, Judgement, all_hold_off, undecided
from perdure.lifecycles.machine.definition import Guard
from perdure.lifecycles.machine.names import Names, UnknownName, resolved

BUILT_IN_GUARDS: tuple[GuardKind, ...] = (
    document_exists.KIND,
    document_set.KIND,
    document_count.KIND,
    field_present.KIND,
    field_value.KIND,
    lifecycle_state.KIND,
    runbook_state.KIND,
    custom.KIND,
)
COMBINED = ("all", "any", "not", "count")
"""Guards that have others inside."""


class GuardTable:
    """Kinds by name. Pure: the same guard, names, facts and time always give the same judgement."""

    def __init__(self, kinds: Iterable[GuardKind] = ()) -> None:
        self._kinds: dict[str, GuardKind] = {}
        for kind in (*BUILT_IN_GUARDS, *kinds):
            for name in (kind.name, *kind.aliases):
                self._kinds[name] = kind

    def with_kind(self, kind: GuardKind) -> GuardTable:
        """The table with one more kind."""
        return GuardTable((*list(self)[len(BUILT_IN_GUARDS) :], kind))

    def __iter__(self) -> Iterator[GuardKind]:
        return iter([kind for name, kind in self._kinds.items() if name == kind.name])

    def names(self) -> list[str]:
        return [*self._kinds, *COMBINED]

    def find(self, name: str) -> GuardKind | None:
        return self._kinds.get(name)

    def facts(self, guard: Guard, names: Names) -> tuple[str, ...]:
        """The keys of all facts that a guard asks for; one whose names are unknown asks for none yet."""
        if guard.kind in COMBINED:
            return tuple(dict.fromkeys(key for each in guard.guards for key in self.facts(each, names)))
        kind = self._kinds.get(guard.kind)
        params = _params(kind, guard, names) if kind is not None else None
        if kind is None or isinstance(params, str) or params is None:
            return ()
        keys = _keys(kind, params)
        return () if isinstance(keys, str) else tuple(key for key in keys if key != CONTEXT)

    def fields(self, guard: Guard, names: Names) -> Iterator[tuple[str, str]]:
        """The fields that a guard looks at, each with the key of its record."""
        if guard.kind in COMBINED:
            for each in guard.guards:
                yield from self.fields(each, names)
            return
        kind = self._kinds.get(guard.kind)
        params = _params(kind, guard, names) if kind is not None else None
        if kind is None or isinstance(params, str) or params is None:
            return
        keys = _keys(kind, params)
        for key in () if isinstance(keys, str) else keys:
            if fact_kind(key) == "record":
                yield from ((key, field) for field in kind.fields(params))

    def judge(self, guard: Guard, names: Names, facts: Facts, now: int) -> Judgement:
        if guard.kind in COMBINED:
            return _combined(guard, [self.judge(each, names, facts, now) for each in guard.guards])
        kind = self._kinds.get(guard.kind)
        if kind is None:
            return undecided(f"the kind of guard '{guard.kind}' is not known here")
        params = _params(kind, guard, names)
        if isinstance(params, str):
            return undecided(f"the context has no '{params}'")
        if isinstance(keys := _keys(kind, params), str):
            return undecided(keys)
        return _judged(kind, params, {**facts, CONTEXT: names}, now)


def _params(kind: GuardKind, guard: Guard, names: Names) -> Mapping[str, Any] | str:
    """The parameters with their names resolved, or the first name that the context does not have."""
    try:
        params: dict[str, Any] = resolved(kind.with_defaults(guard.params), names)
    except UnknownName as unknown:
        return unknown.name
    return params


def _keys(kind: GuardKind, params: Mapping[str, Any]) -> tuple[str, ...] | str:
    """The facts that a kind asks for, or why it cannot say."""
    try:
        return tuple(str(key) for key in kind.facts(params))
    except Exception as error:  # a guard of a project may raise anything, and then opens nothing
        return _failure(kind, error)


def _judged(kind: GuardKind, params: Mapping[str, Any], facts: Facts, now: int) -> Judgement:
    try:
        found = kind.judge(params, facts, now)
    except Exception as error:  # a guard of a project may raise anything, and then opens nothing
        return undecided(_failure(kind, error))
    if not isinstance(found, Judgement):
        return undecided(f"guard '{kind.name}' gave no judgement")
    return found


def _failure(kind: GuardKind, error: Exception) -> str:
    return f"guard '{kind.name}' failed: {type(error).__name__}: {error}"[:500]


def _combined(guard: Guard, judged: list[Judgement]) -> Judgement:
    times = min((each.changes_at for each in judged if each.changes_at), default=0)
    holding = sum(each.holds for each in judged)
    missing = tuple(text for each in judged if not each.holds for text in each.missing)
    has_open = any(each.is_undecided for each in judged)
    match guard.kind:
        case "all":
            is_false = any(not each.holds and not each.is_undecided for each in judged)
            return Judgement(
                holding == len(judged), missing, times, has_open and not is_false, all_hold_off(judged)
            )  # fmt: skip
        case "any" | "count":
            wanted = int(guard.params["at_least"]) if guard.kind == "count" else 1
            if holding >= wanted:
                return Judgement(True, (), times)
            text = (
                f"one of: {'; '.join(missing)}" if wanted == 1 else f"{holding} of {wanted} hold: {'; '.join(missing)}"
            )
            return Judgement(False, (text,), times, has_open, all_hold_off(judged))
        case _:
            if has_open and not holding:
                return Judgement(False, missing, times, True)
            return Judgement(not holding, ("a guard holds that must not",) if holding else (), times)
