"""The state of a lifecycle instance.

| status | it is | and then |
|---|---|---|
| active | in one of its states, waiting for facts, people or time | moved, ended, cancelled, migrated |
| completed | in a terminal state | nothing but erased |
| cancelled | ended by a person | nothing but erased |

| pending task | it is | and then |
|---|---|---|
| pending | asked for; nothing came | partial, completed, failed, expired, cancelled |
| partial | some of what is expected came | completed, failed, expired, cancelled |
| completed, failed, expired, cancelled | over | nothing: what comes later is counted as known |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

STATE_VERSION = 1
MAX_HISTORY = 100
"""Moves that the state remembers; the journal has them all."""
MAX_CLOSED_TASKS = 100
MAX_HOPS = 100
"""Moves in a row that an instance makes by itself without coming to rest."""

Status = Literal["active", "completed", "cancelled"]
TaskStatus = Literal["pending", "partial", "completed", "failed", "expired", "cancelled"]
Cause = Literal["start", "auto", "manual", "time", "migration"]
OPEN: tuple[TaskStatus, ...] = ("pending", "partial")
ACTION = "Action"
"""Stands in place of the type of a blocker where a pending task is that of an action."""


class Compact(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A value stored as an array."""


class FactSeen(Compact, frozen=True):
    """A fact that was seen: its key, and the hash of its value."""

    key: str
    hash: bytes


class Deadline(Compact, frozen=True):
    """A time that was fixed when the state was entered; `transition` is -1 where it only makes it overdue."""

    at: int
    transition: int


class Blocked(Compact, frozen=True):
    """A closed guard as it was last judged: the key of its requirement, or `->STATE` for that of a transition."""

    key: str
    type: str


class Task(Compact, frozen=True):
    """A pending task: what was asked for to meet one requirement, once."""

    number: int
    correlation_id: str
    key: str
    blocker: str
    verb: str
    attempt: int
    visit: int
    created_at: int
    by: str
    expires_at: int = 0
    expected: int = 1
    status: TaskStatus = "pending"
    received: int = 0
    failed: int = 0
    closed_at: int = 0
    cargo: tuple[str, ...] = ()
    error: str = ""
    behind: tuple[str, ...] = ()
    """Who stands behind whoever asked."""

    @property
    def is_open(self) -> bool:
        return self.status in OPEN

    @property
    def is_action(self) -> bool:
        """An action outlives its state, and the instance: it ends with its call."""
        return self.blocker == ACTION


class Move(Compact, frozen=True):
    """One step of the history."""

    source: str
    target: str
    cause: Cause
    at: int
    by: str
    reason: str = ""
    facts: bytes = b""
    """The hash of the facts that let it be, a payload."""


class Proposal(Compact, frozen=True):
    """A transition, or a migration to a version, that one person wants and a second has to agree to."""

    target: str
    by: str
    names: tuple[str, ...]
    reason: str
    at: int
    number: int = 0
    """The version that a migration leads to; 0 for a transition."""
    seen: tuple[FactSeen, ...] = ()
    """What it was proposed by: the context and each fact, with their hashes."""
    facts: bytes = b""


class Stuck(Compact, frozen=True):
    """Why an instance does not go on by itself."""

    code: str
    text: str
    at: int


class Instance(msgspec.Struct, frozen=True, array_like=True):
    """A lifecycle instance. Times are in microseconds."""

    version: int
    lifecycle: str
    number: int
    hash: bytes
    subject: str
    context: bytes
    started_at: int
    started_by: str
    state: str = ""
    status: Status = "active"
    entered_at: int = 0
    ended_at: int = 0
    visit: int = 0
    """How many states were entered; a pending task belongs to one stay."""
    round: int = 0
    """Grows with every change: facts that were read for an earlier round decide nothing."""
    is_due: bool = False
    """Facts have to be looked at; a notice says so to whoever looks after it."""
    hops: int = 0
    interest: tuple[str, ...] = ()
    deadlines: tuple[Deadline, ...] = ()
    recheck_at: int = 0
    is_overdue: bool = False
    blocked: tuple[Blocked, ...] = ()
    facts: bytes = b""
    """The hash of the facts that were last looked at in this state, a payload."""
    tasks: tuple[Task, ...] = ()
    asked: dict[str, int] = {}
    """How often each requirement was asked for: the attempt of a correlation id is never used again."""
    proposal: Proposal | None = None
    history: tuple[Move, ...] = ()
    stuck: Stuck | None = None
    is_erased: bool = False
    behind: tuple[str, ...] = ()
    """Who stands behind whoever started it."""
    depth: int = 0
    """How many lifecycles began one another before this one, without a person or a timer in between."""

    @property
    def is_over(self) -> bool:
        return self.status != "active"

    def open_tasks(self) -> Iterator[Task]:
        return (each for each in self.tasks if each.is_open)

    def task(self, correlation_id: str) -> Task | None:
        return next((each for each in self.tasks if each.correlation_id == correlation_id), None)


def correlation_id(letters: str, blocker: str, key: str, attempt: int) -> str:
    """The id by which a task result finds its task: the same however often it is computed."""
    return f"{letters}:{blocker}:{key}:{attempt}"


def instance_letters(correlation_id: str) -> str:
    """The instance that a correlation id belongs to."""
    return correlation_id.partition(":")[0]
