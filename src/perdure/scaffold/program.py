"""A process as a program: statements in the order of the model, which every target writes in its own language.

| statement | of the model |
|---|---|
| Do | work, a wait, a user task, a timer or an embedded subprocess |
| Choice | an exclusive gateway, an event gateway, or an activity with interrupting boundary events |
| Loop, Leave, Again | flows that lead back |
| Fork | a parallel gateway and the one that joins it |
| End, Fail | end events |
| Patched | what was added to a process that already runs |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, assert_never

import msgspec

from perdure.bpmn.conditions.tree import Condition


class Side(msgspec.Struct, frozen=True):
    """A boundary timer that does not interrupt: its path runs beside the activity's own."""

    event: str
    body: tuple[Statement, ...]


class Do(msgspec.Struct, frozen=True, tag="do"):
    """Do what a node says; `sides` begin while it is done."""

    node: str
    sides: tuple[Side, ...] = ()


class Arm(msgspec.Struct, frozen=True):
    """One way on: a condition (none is the default), or an event that led to it."""

    body: tuple[Statement, ...]
    condition: Condition | None = None
    event: str = ""


class Choice(msgspec.Struct, frozen=True, tag="choice"):
    """Exactly one arm is taken.

    `gateway`: the first whose condition holds. `boundary`: `activity` is done; the arm of the boundary event that
    ended it, the arm without an event when none did. `race`: the arm of the event that came first.
    """

    kind: Literal["gateway", "boundary", "race"]
    node: str
    arms: tuple[Arm, ...]
    activity: Do | None = None


class Loop(msgspec.Struct, frozen=True, tag="loop"):
    """Endless, but for `Leave` and `End`. `node` is where it begins."""

    node: str
    body: tuple[Statement, ...]


class Leave(msgspec.Struct, frozen=True, tag="leave"):
    """Out of the innermost loop."""


class Again(msgspec.Struct, frozen=True, tag="again"):
    """Back to the beginning of the innermost loop."""


class Fork(msgspec.Struct, frozen=True, tag="fork"):
    """All branches at once; what follows waits for all of them."""

    node: str
    branches: tuple[tuple[Statement, ...], ...]


class End(msgspec.Struct, frozen=True, tag="end"):
    """The end of the scope or branch. `event` is an end event, empty where a branch reaches its join."""

    event: str = ""


class Fail(msgspec.Struct, frozen=True, tag="fail"):
    """An error end event."""

    event: str
    error: str


class Patched(msgspec.Struct, frozen=True, tag="patched"):
    """Statements that instances begun before them do not meet."""

    marker: str
    body: tuple[Statement, ...]


Statement = Do | Choice | Loop | Leave | Again | Fork | End | Fail | Patched
Body = tuple[Statement, ...]


class Program(msgspec.Struct, frozen=True):
    """The statements of the process, and of each embedded subprocess by its id, in the order of the file."""

    body: Body
    subprocesses: dict[str, Body] = {}
    bindings: dict[str, str] = {}
    """What each node is bound to: the type of an activity, a message, an Update."""

    def scopes(self) -> Iterator[Body]:
        yield self.body
        yield from self.subprocesses.values()


def statements(body: Body) -> Iterator[Statement]:
    """Every statement, those inside included, in reading order."""
    for each in body:
        yield each
        for inner in inner_bodies(each):
            yield from statements(inner)


def inner_bodies(statement: Statement) -> tuple[Body, ...]:
    match statement:
        case Do(sides=sides):
            return tuple(side.body for side in sides)
        case Choice(arms=arms, activity=activity):
            own = tuple(side.body for side in activity.sides) if activity is not None else ()
            return (*own, *(arm.body for arm in arms))
        case Loop(body=body) | Patched(body=body):
            return (body,)
        case Fork(branches=branches):
            return branches
        case Leave() | Again() | End() | Fail():
            return ()
        case _:
            assert_never(statement)


def done_nodes(body: Body) -> list[str]:
    """The node of every `Do`, as often as it stands there."""
    found = [each.node for each in statements(body) if isinstance(each, Do)]
    found += [each.activity.node for each in statements(body) if isinstance(each, Choice) and each.activity is not None]
    return found


def never_goes_on(body: Body) -> bool:
    """Whether nothing after the body is reached."""
    if not body:
        return False
    match body[-1]:
        case Leave() | Again() | End() | Fail():
            return True
        case Choice(arms=arms):
            return all(never_goes_on(arm.body) for arm in arms)
        case Loop(body=inner):
            return not _leaves(inner)
        case Do() | Fork() | Patched():
            return False
        case _:
            assert_never(body[-1])


def _leaves(body: Body) -> bool:
    """Whether a body leaves the loop it stands in; inner loops leave themselves."""
    for each in body:
        if isinstance(each, Leave):
            return True
        if not isinstance(each, Loop) and any(_leaves(inner) for inner in inner_bodies(each)):
            return True
    return False
