"""A scenario as read: the model, what each verb does, what is done to the process and what must come of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from perdure.bpmn.machine.deployed_process import Profile
from perdure.bpmn.machine.state import Instance
from perdure.human_tasks import SOMEONE, Person, entitled
from perdure.verb_contract import FailureClass, RetryPolicy

Flags = dict[str, str | bool | int]
STATES: tuple[str, ...] = (
    "active", "suspended", "completed", "failed", "cancelled", "terminated", "compensating", "compensated",
    "compensation_failed",
)  # fmt: skip
AT_ONCE = RetryPolicy(max_attempts=3, backoff="fixed", base_delay_seconds=0.0, max_delay_seconds=0.0, jitter=0.0)
"""How stubs are retried unless the scenario says otherwise: three attempts, without a pause."""


class Behaviour(msgspec.Struct, frozen=True, kw_only=True):
    """What a verb does in one execution; it succeeds unless it fails or raises a business error."""

    data: dict[str, Any] = {}
    flags: Flags = {}
    fail: FailureClass | None = None
    business_error: str = ""
    takes_seconds: float = 0.0
    text: str = ""


SUCCEEDS = Behaviour()
UNNAMED = "BUSINESS"
"""The code of a business failure for which none is said."""


class Message(msgspec.Struct, frozen=True, kw_only=True, tag="message"):
    """Published for whoever waits for it; without an id, every delivery is another message."""

    name: str
    key: str = ""
    id: str = ""
    ttl_seconds: float = 0.0
    data: dict[str, Any] = {}
    flags: Flags = {}


class Signal(msgspec.Struct, frozen=True, kw_only=True, tag="signal"):
    name: str
    id: str = ""
    data: dict[str, Any] = {}
    flags: Flags = {}


class Start(msgspec.Struct, frozen=True, kw_only=True, tag="start"):
    """Begin an instance: directly, or by a message or signal its process starts with."""

    process: str = ""
    flags: Flags = {}
    data: dict[str, Any] = {}
    name: str = ""
    business_key: str = ""
    message: Message | None = None
    signal: Signal | None = None


class Advance(msgspec.Struct, frozen=True, kw_only=True, tag="advance"):
    seconds: float
    months: int = 0


class Task(msgspec.Struct, frozen=True, kw_only=True, tag="task"):
    """Complete the human task that waits at an element. Unless said, by somebody who may, of the groups it is for.

    With `by`, that person answers; a task that asks somebody of each of several groups then takes several steps.
    """

    element: str
    by: str = ""
    groups: tuple[str, ...] = ()
    data: dict[str, Any] = {}
    flags: Flags = {}
    to: str = ""


def actor(state: Instance, node: int, step: Task) -> Person:
    """Who completes a task in a scenario."""
    task = state.nodes[node].task if node in state.nodes else None
    somebody = entitled(task) if task is not None else Person(SOMEONE)
    return Person(step.by or somebody.name, step.groups or somebody.groups)


class Cancel(msgspec.Struct, frozen=True, kw_only=True, tag="cancel"):
    reason: str = ""
    compensates: bool = False
    to: str = ""


class Crash(msgspec.Struct, frozen=True, kw_only=True, tag="crash"):
    """Drop everything in memory and open the store again."""


class Suspend(msgspec.Struct, frozen=True, kw_only=True, tag="suspend"):
    to: str = ""


class Resume(msgspec.Struct, frozen=True, kw_only=True, tag="resume"):
    timers: Literal["keep", "shift"] = "keep"
    to: str = ""


class Retry(msgspec.Struct, frozen=True, kw_only=True, tag="retry"):
    """Try again what is stuck at an element, after editing flags; without an element, whatever is stuck."""

    element: str = ""
    flags: Flags = {}
    to: str = ""


class Resolve(msgspec.Struct, frozen=True, kw_only=True, tag="resolve"):
    """End by hand what is stuck at an element: as completed, or with a business error."""

    element: str = ""
    data: dict[str, Any] = {}
    flags: Flags = {}
    error: str = ""
    to: str = ""


class Modify(msgspec.Struct, frozen=True, kw_only=True, tag="modify"):
    """Cancel the tokens that stand on some elements and start others, with flags set by hand."""

    cancel: tuple[str, ...] = ()
    start: tuple[str, ...] = ()
    flags: Flags = {}
    to: str = ""


class Deploy(msgspec.Struct, frozen=True, kw_only=True, tag="deploy"):
    """Deploy another version; instances that run stay on theirs."""

    model: Path


class Migrate(msgspec.Struct, frozen=True, kw_only=True, tag="migrate"):
    """Go on under the latest version deployed; elements not named in `mapping` keep their ids."""

    mapping: dict[str, str] = {}
    to: str = ""


Step = (
    Start | Advance | Message | Signal | Task | Cancel | Crash | Suspend | Resume | Retry | Resolve | Modify | Deploy
    | Migrate
)  # fmt: skip

Group = tuple[str, ...]
"""Names that may come in any order; a group of one is simply the next."""


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """What must hold in the end; None where nothing is expected."""

    deploy: Literal["accepted", "refused"] | None = None
    codes: tuple[str, ...] = ()
    """All of them must be among those of the refusal."""
    state: str | None = None
    states: dict[str, str] = {}
    """Of instances by the name they were started under."""
    ran: tuple[Group, ...] | None = None
    visited: tuple[Group, ...] | None = None
    parked: tuple[str, ...] | None = None
    incidents: int | None = None
    flags: Flags = {}
    data: dict[str, Any] = {}
    any_order: bool = False


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """One file. `lines` says where each step stands."""

    file: str
    model: Path
    profile: Profile = "hollow"
    process: str = ""
    flags: Flags = {}
    verbs: dict[str, tuple[Behaviour, ...]] = {}
    retry: RetryPolicy = AT_ONCE
    steps: tuple[Step, ...] = ()
    lines: tuple[int, ...] = ()
    expect: Expectation | None = None
    remarks: tuple[str, ...] = ()


class Actual(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it. State, flags and data are those of the instance that was started first; all else is over all."""

    deploy: Literal["accepted", "refused"] | None
    """None where the file itself could not be read."""
    state: str | None
    ran: list[str]
    visited: list[str]
    parked: list[str]
    incidents: int
    codes: list[str] = []
    """Of the errors for which deployment was refused."""
    states: dict[str, str] = {}
    flags: Flags = {}
    data: dict[str, Any] = {}
    remarks: list[str] = []
    """What was refused, found nothing or came too late, and so changed nothing."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How one file went."""

    file: str
    passed: bool
    failures: list[str]
    actual: Actual
