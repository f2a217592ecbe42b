"""Entries of a lifecycle instance: whatever was computed for a decision is written into it.

What was read for it is a payload, and `facts` its hash: facts may be personal data, which an entry would keep for ever.
"""

from __future__ import annotations

from perdure.lifecycles.machine.state import Blocked, Cause, Compact, Deadline, FactSeen, Status, TaskStatus

ENTRY_VERSION = 1


class LifecycleStarted(Compact, frozen=True, tag=1):
    """An instance began under one version of a definition; its context is a payload."""

    lifecycle: str
    number: int
    hash: bytes
    subject: str
    context: bytes
    at: int
    by: str
    behind: tuple[str, ...] = ()
    depth: int = 0


class StateEntered(Compact, frozen=True, tag=2):
    """A state was entered, with the facts that let it be; its deadlines and the facts it asks for are fixed."""

    state: str
    source: str
    cause: Cause
    at: int
    by: str
    reason: str = ""
    deadlines: tuple[Deadline, ...] = ()
    interest: tuple[str, ...] = ()
    facts: bytes = b""


class FactsJudged(Compact, frozen=True, tag=3):
    """Facts were looked at and the instance stays where it is."""

    at: int
    blocked: tuple[Blocked, ...]
    recheck_at: int
    facts: bytes


class TaskRequested(Compact, frozen=True, tag=4):
    """The resolution of a requirement, or an action, was asked for."""

    correlation_id: str
    key: str
    blocker: str
    verb: str
    attempt: int
    at: int
    by: str
    expires_at: int
    expected: int
    behind: tuple[str, ...] = ()
    facts: bytes = b""


class TaskResultReceived(Compact, frozen=True, tag=5):
    """A result came for a task that is open; its cargo went into the context."""

    correlation_id: str
    status: TaskStatus
    received: int
    failed: int
    cargo: tuple[str, ...]
    error: str
    context: bytes
    at: int
    by: str
    message_id: str


class TaskClosed(Compact, frozen=True, tag=6):
    """A task ended without a result of its own: expired, failed to begin, or not needed any more."""

    correlation_id: str
    status: TaskStatus
    reason: str
    at: int


class TransitionProposed(Compact, frozen=True, tag=7):
    """A person wants a transition, or a migration to version `number`, that a second one has to agree to."""

    target: str
    by: str
    names: tuple[str, ...]
    reason: str
    at: int
    facts: bytes = b""
    number: int = 0
    seen: tuple[FactSeen, ...] = ()


class DeadlinePassed(Compact, frozen=True, tag=8):
    """A deadline of the state passed and the instance stays where it is."""

    due: int
    at: int
    blocked: tuple[Blocked, ...] = ()
    facts: bytes = b""


class LifecycleEnded(Compact, frozen=True, tag=9):
    """Nothing is decided any more."""

    status: Status
    at: int
    by: str
    reason: str = ""


class LifecycleMigrated(Compact, frozen=True, tag=10):
    """The instance goes on under another version of its definition."""

    number: int
    hash: bytes
    at: int
    by: str
    reason: str


class LifecycleStuck(Compact, frozen=True, tag=11):
    """The instance does not go on by itself until a person lets it."""

    code: str
    text: str
    at: int
    facts: bytes = b""


class LookAsked(Compact, frozen=True, tag=12):
    """Somebody wants the facts to be looked at again."""

    at: int
    by: str


class DataErased(Compact, frozen=True, tag=13):
    """The context is gone, and so are all facts that were read."""

    at: int
    by: str
    reason: str


class InterestChanged(Compact, frozen=True, tag=14):
    """The context names other facts than before: the instance waits for these now."""

    interest: tuple[str, ...]
    at: int
    facts: bytes = b""


TaskEntry = TaskRequested | TaskResultReceived | TaskClosed
LifecycleEntry = (
    LifecycleStarted
    | StateEntered
    | FactsJudged
    | TaskRequested
    | TaskResultReceived
    | TaskClosed
    | TransitionProposed
    | DeadlinePassed
    | LifecycleEnded
    | LifecycleMigrated
    | LifecycleStuck
    | LookAsked
    | DataErased
    | InterestChanged
)
