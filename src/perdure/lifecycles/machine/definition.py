"""The declared form of a lifecycle: frozen values, the same from either layout of a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

Mode = Literal["auto", "manual", "time"]

DEFAULT_ATTEMPTS = 3


class Guard(msgspec.Struct, frozen=True):
    """A condition over facts. `kind` names its plug-in; `all`, `any`, `not` and `count` have guards inside."""

    kind: str
    params: dict[str, Any] = {}
    guards: tuple[Guard, ...] = ()


class Resolution(msgspec.Struct, frozen=True):
    """The call that would open a closed guard. In `args` a text `$name` stands for a value of the context."""

    verb: str
    args: dict[str, Any] = {}
    auto: bool = False
    expires_seconds: float | None = None
    max_attempts: int = DEFAULT_ATTEMPTS
    expected: int = 1
    """How many pieces of cargo complete the task."""


class Requirement(msgspec.Struct, frozen=True):
    """A guard that a state needs before it can be left by itself. `key` names it within its state."""

    key: str
    guard: Guard
    blocker: str
    """The type of the blocker while the guard is closed."""
    description: str = ""
    resolution: Resolution | None = None


class State(msgspec.Struct, frozen=True):
    """One state of a subject."""

    name: str
    description: str = ""
    is_initial: bool = False
    is_terminal: bool = False
    timeout_seconds: float | None = None
    requirements: tuple[Requirement, ...] = ()


class Transition(msgspec.Struct, frozen=True):
    """A way from one state to another.

    An automatic one is taken as soon as the requirements of its state and its guard hold. A manual one is taken by a
    person. One by time is taken so long after its state was entered.
    """

    source: str
    target: str
    mode: Mode = "auto"
    guard: Guard | None = None
    needs_requirements: bool = True
    after_seconds: float | None = None
    role: str = ""
    needs_reason: bool = False
    four_eyes: bool = False
    description: str = ""


class Action(msgspec.Struct, frozen=True):
    """A call that is offered while a lifecycle is in a state; `auto`: made by itself each time it is entered."""

    state: str
    name: str
    verb: str
    description: str = ""
    params: dict[str, Any] = {}
    auto: bool = False

    @property
    def key(self) -> str:
        """What the pending task of the action is called; no requirement has a colon in its key."""
        return f"{self.state}:{self.name}"


class Condition(msgspec.Struct, frozen=True):
    """One condition of a trigger: a field of the event is one of these values."""

    field: str
    values: tuple[Any, ...]


class Trigger(msgspec.Struct, frozen=True):
    """The event that begins an instance.

    `subject` is the field of the event that names the subject; without it the event is about the subject. `context`
    gives fields of the event to the instance, by the names it knows them under.
    """

    event: str
    conditions: tuple[Condition, ...] = ()
    subject: str = ""
    context: dict[str, str] = {}


class Lifecycle(msgspec.Struct, frozen=True):
    """A whole definition. `label` is the version its author gave it; numbers are given at deployment."""

    name: str
    states: tuple[State, ...]
    transitions: tuple[Transition, ...]
    label: str = ""
    description: str = ""
    actions: tuple[Action, ...] = ()
    trigger: Trigger | None = None

    def state(self, name: str) -> State | None:
        return next((each for each in self.states if each.name == name), None)

    @property
    def initial(self) -> State:
        return next(each for each in self.states if each.is_initial)

    def leaving(self, state: str, mode: Mode | None = None) -> Iterator[tuple[int, Transition]]:
        """The transitions out of a state with their places in the definition, in the order they were written."""
        for at, each in enumerate(self.transitions):
            if each.source == state and (mode is None or each.mode == mode):
                yield at, each

    def action(self, key: str) -> Action | None:
        """The action whose pending task has that key."""
        return next((each for each in self.actions if each.key == key), None)

    def requirement(self, state: str, key: str) -> Requirement | None:
        found = self.state(state)
        return next((each for each in found.requirements if each.key == key), None) if found is not None else None


def guards_in(guard: Guard) -> Iterator[Guard]:
    """A guard and every guard inside it."""
    waiting = [guard]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(reversed(each.guards))
