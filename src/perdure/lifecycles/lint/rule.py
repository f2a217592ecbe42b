"""A rule: a module with a code, a name, a severity, a page of text and a check."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Literal, NamedTuple, Protocol

from perdure.lifecycles.guards import GuardTable
from perdure.lifecycles.machine.definition import Guard, Lifecycle, guards_in
from perdure.verbs import Catalogue

Severity = Literal["error", "warning"]
Part = tuple[str, ...]
"""A part of a definition, as `LifecycleFile.places` names it."""


class Note(NamedTuple):
    """What a rule found: where, what, and what to do about it."""

    part: Part
    reason: str
    hint: str


class Subject(NamedTuple):
    """A definition, and what there is around it."""

    definition: Lifecycle
    catalogue: Catalogue
    table: GuardTable
    fact_kinds: Collection[str]
    others: Mapping[str, Lifecycle]
    """Lifecycles of the same project, by name."""

    def guards(self) -> Iterator[tuple[Part, Guard]]:
        """Every guard, inner ones included, with the part it belongs to."""
        for state in self.definition.states:
            for requirement in state.requirements:
                for guard in guards_in(requirement.guard):
                    yield ("requirement", state.name, requirement.key), guard
        for at, transition in enumerate(self.definition.transitions):
            for guard in guards_in(transition.guard) if transition.guard is not None else ():
                yield ("transition", str(at)), guard

    def reached(self, start: str) -> set[str]:
        """The states that transitions lead to from a state, itself included."""
        after: dict[str, list[str]] = {}
        for each in self.definition.transitions:
            after.setdefault(each.source, []).append(each.target)
        found, waiting = {start}, [start]
        while waiting:
            for state in after.get(waiting.pop(), ()):
                if state not in found:
                    found.add(state)
                    waiting.append(state)
        return found

    def is_open(self, at: int) -> bool:
        """Whether an automatic transition is taken whatever the facts are."""
        transition = self.definition.transitions[at]
        state = self.definition.state(transition.source)
        return transition.mode == "auto" and transition.guard is None and not (state is not None and state.requirements)


class Rule(Protocol):
    """A module of `perdure.lifecycles.lint.rules`; its docstring is its page."""

    CODE: str
    NAME: str
    SEVERITY: Severity

    def check(self, subject: Subject) -> Iterator[Note]: ...
