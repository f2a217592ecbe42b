"""Guards of a project: kinds given as values, or found in packages that the local configuration names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from perdure.errors import DefinitionError, Problem
from perdure.lifecycles.guards.guard_kind import GuardKind
from perdure.lifecycles.guards.guard_table import COMBINED, GuardTable
from perdure.verbs.handler_registry import imported_modules

_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_WORDS = ("type", "id", "description", "on_fail")
"""Keys of a requirement, which no parameter can have as its name."""


def project_guards(given: Sequence[GuardKind | str]) -> GuardTable:
    """The built-in kinds and those given; raises DefinitionError with every problem."""
    problems: list[Problem] = []
    table = GuardTable()
    for place, kind in list(_kinds(given, problems)):
        faults = list(_faults(place, kind, table))
        problems.extend(faults)
        table = table if faults else table.with_kind(kind)
    if problems:
        raise DefinitionError(problems)
    return table


def readable_guards(given: Sequence[GuardKind | str]) -> GuardTable:
    """The same for who only looks: what cannot be imported leaves its guards unknown, and they are told as such."""
    try:
        return project_guards(given)
    except DefinitionError:
        return GuardTable()


def _kinds(given: Iterable[GuardKind | str], problems: list[Problem]) -> Iterator[tuple[str, GuardKind]]:
    """Kinds with where they were found; one that several modules import is found once."""
    found: list[GuardKind] = []
    for each in given:
        if isinstance(each, GuardKind):
            named = [(f"guards[{each.name}]", each)]
        else:
            named = [
                (f"{module.__name__}.{name}", value)
                for module in imported_modules([each], problems, "guard")
                for name, value in vars(module).items()
                if isinstance(value, GuardKind)
            ]
            if not named and not problems:
                reason, hint = "no kind of guard is in it", "Write `passport_age = GuardKind(…)` in a module of it."
                problems.append(Problem("guard.none", each, 1, 1, "guards", reason, hint))
        for place, kind in named:
            if not any(kind is other for other in found):
                found.append(kind)
                yield place, kind


def _faults(place: str, kind: GuardKind, table: GuardTable) -> Iterator[Problem]:
    """What is wrong with one kind, beside those that were found before it."""

    def fault(reason: str, hint: str = "") -> Problem:
        return Problem("guard.kind", place, 1, 1, "guards", reason, hint)

    for name in (kind.name, *kind.aliases):
        if not _NAME.fullmatch(name):
            yield fault(f"'{name[:80]}' cannot name a kind of guard", "Use lower case words joined by underscores.")
        elif name in COMBINED or table.find(name) is not None:
            yield fault(f"there is a kind of guard '{name}' already", "Choose another name.")
    if not kind.description.strip():
        yield fault(f"the kind of guard '{kind.name}' has no description", "Say in one sentence when it holds.")
    names = [each.name for each in kind.parameters]
    for name in names:
        if names.count(name) > 1 or name in (*_WORDS, *COMBINED) or not _NAME.fullmatch(name):
            yield fault(f"'{name[:80]}' cannot name a parameter of '{kind.name}'", "Use another name, once.")
