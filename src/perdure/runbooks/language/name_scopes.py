"""Which steps a name may mean: one, or one in each branch of a choice, so that after it there always is a result."""

from __future__ import annotations

from collections.abc import Iterable

from perdure.runbooks.language.program import Span
from perdure.runbooks.plan import Branch, StepPlan


class _Node:
    """A place in the choices of a program: bound here, or further on by how a choice comes out."""

    __slots__ = ("choice", "place", "sides")

    def __init__(self) -> None:
        self.place: Span | None = None
        self.choice = ""
        self.sides: dict[bool, _Node] = {}

    def first(self) -> Span | None:
        node = self
        while node.place is None and node.sides:
            node = next(iter(node.sides.values()))
        return node.place

    def is_complete(self) -> bool:
        """Whether it is bound however the choices from here on come out."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if node.place is None:
                if len(node.sides) < 2:
                    return False
                waiting.extend(node.sides.values())
        return True


class Scope:
    """The bindings of all names."""

    def __init__(self) -> None:
        self._names: dict[str, _Node] = {}
        self._complete: dict[int, bool] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def names(self) -> Iterable[str]:
        return self._names.keys()

    def bind(self, name: str, branches: tuple[Branch, ...], place: Span) -> Span | None:
        """Bind a name inside these branches; gives the place of a binding that could have a result beside it."""
        node = self._names.setdefault(name, _Node())
        for branch in branches:
            if node.place is not None or node.choice not in ("", branch.choice):
                return node.first()
            node.choice = branch.choice
            node = node.sides.setdefault(branch.side, _Node())
        if node.place is not None or node.sides:
            return node.first()
        node.place = place
        return None

    def covers(self, name: str, branches: tuple[Branch, ...]) -> bool:
        """Whether the name has a result wherever these branches run."""
        node, sides = self._names[name], {branch.choice: branch.side for branch in branches}
        while node.place is None and node.choice in sides:
            found = node.sides.get(sides[node.choice])
            if found is None:
                return False
            node = found
        if id(node) not in self._complete:
            self._complete[id(node)] = node.is_complete()
        return self._complete[id(node)]


def exclude(one: tuple[Branch, ...], other: tuple[Branch, ...]) -> bool:
    """Whether of two places in the choices of a program only one ever runs."""
    if not one or not other:
        return False
    sides = {branch.choice: branch.side for branch in one}
    return any(sides.get(branch.choice, branch.side) != branch.side for branch in other)


def needs_by_number(steps: Iterable[StepPlan]) -> dict[int, list[int]]:
    """What each step waits for, by their numbers from zero; a name in several branches is all that may run with it."""
    steps = list(steps)
    numbers: dict[str, list[int]] = {}
    for number, step in enumerate(steps):
        numbers.setdefault(step.name, []).append(number)
    return {
        number: [
            found
            for name in needs_of(step)
            for found in numbers.get(name, ())
            if not exclude(step.branches, steps[found].branches)
        ]
        for number, step in enumerate(steps)
    }


def needs_of(step: StepPlan) -> list[str]:
    """Every step it waits for, once, in the order they are named."""
    found = dict.fromkeys(reference.step for reference in step.references)
    if step.condition is not None:
        found.update(dict.fromkeys(subjects_of(step)))
    found.update(dict.fromkeys(step.after))
    found.update(dict.fromkeys(branch.choice for branch in step.branches))
    return list(found)


def subjects_of(step: StepPlan) -> list[str]:
    """The steps whose results its condition looks at."""
    waiting, found = [step.condition], dict[str, None]()
    while waiting:
        part = waiting.pop(0)
        if part is None:
            continue
        if hasattr(part, "step"):
            found[part.step] = None
        else:
            waiting.extend(part.of if isinstance(part.of, tuple) else [part.of])
    return list(found)
