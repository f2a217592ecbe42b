"""Commands to an instance: imperative, complete, and without data (payloads by their hashes only).

`worker` is the lease under which jobs that become ready are started in the same commit; 0 leaves them to anyone.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from perdure.agent_usage import Budget, Used
from perdure.bpmn.machine.state import Failure, Flags
from perdure.human_tasks import Person, RungRule
from perdure.overrides import Guard
from perdure.verb_contract import ConsequenceTier


class StartInstance(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """Begin a process. `start` is the start event (or instantiating task) that occurred; empty for none events."""

    definition: bytes
    process: str
    process_version: int
    head: bytes
    flags: Flags = {}
    start: str = ""
    message_id: str = ""
    parent: str = ""
    business_key: str = ""
    idempotency_key: str = ""
    worker: int = 0
    agreed: ConsequenceTier | Literal[""] = ""
    """The consequence that was agreed to."""


class LeaseJob(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """Take a ready or abandoned job. `abandoned` names the dead worker it is taken from."""

    node: int
    worker: int
    abandoned: int = 0
    redelivery: Literal["rerun", "incident"] = "rerun"


class JobDone(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The handler returned: the head payload after merging its changes, and the flags it set."""

    head: bytes
    flags: Flags = {}


class JobFault(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The attempt failed. Whether another follows is said by the policy pinned in the definition."""

    failure: Failure
    after_seconds: float | None = None
    trace: bytes = b""
    """The hash of the traceback that comes with it."""


class JobAsks(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The agent asks a person something. `unless` an event of the model catches that business error instead."""

    question: bytes
    by: str
    assignee: str = ""
    groups: str = ""
    users: str = ""
    due: str = ""
    four_eyes: bool = False
    ladder: tuple[RungRule, ...] = ()
    agents: bool = False
    unless: Failure | None = None


class JobHolds(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Nothing could be tried: the job waits so long, or until somebody lets it go on, and no attempt counts."""

    code: str
    text: str
    after_seconds: float | None = None


class RecordJob(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """What became of one attempt."""

    node: int
    attempt: int
    job_worker: int
    outcome: JobDone | JobFault | JobAsks | JobHolds
    worker: int = 0
    used: Used | None = None
    """What its agent used, or whatever else asked models."""
    budget: Budget | None = None
    wanted: Budget = Budget()
    """What one attempt may use at most, as the verb says."""


class ReserveBudget(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """Set aside what an attempt may use at most, before its agent is asked; all that is left where it does not say."""

    node: int
    attempt: int
    job_worker: int
    budget: Budget
    wanted: Budget = Budget()


class SetBudget(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """Set what all agents of the work may use; what is None stays. To loosen it is a decision of its own."""

    declared: Budget
    max_tokens: int | None = None
    max_cost: int | None = None
    loosens: bool = False
    reason: str = ""
    worker: int = 0


class Correlate(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """A message or signal for a watch. `head` is the payload with what it brought, merged; empty when it brought none.

    When the wait has an intake verb, `message` is the hash of what arrived and the intake runs as a job.
    `writer` is the intake verb on whose behalf `flags` are written.
    """

    watch: int
    message_id: str
    head: bytes = b""
    message: bytes = b""
    flags: Flags = {}
    writer: str = ""
    worker: int = 0


class FireTimer(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """A timer of an event (`watch`), a job (`retry`) or a task (`ladder`) is due; firing twice is firing once."""

    number: int
    kind: str
    due: int
    worker: int = 0


class ClaimTask(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """Take a human task."""

    node: int
    who: Person


class UnclaimTask(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """Give a claimed task back."""

    node: int
    who: Person


class DelegateTask(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """Hand a task to another person."""

    node: int
    who: Person
    to: str


class ReassignTask(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """Give a task to another person, or to `groups` (comma separated) instead of those that had it."""

    node: int
    who: Person
    to: str = ""
    groups: str = ""


class CompleteTask(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """End a human task; as with a message, flags come only through the task's intake verb."""

    node: int
    who: Person
    head: bytes = b""
    message: bytes = b""
    flags: Flags = {}
    writer: str = ""
    message_id: str = ""
    worker: int = 0
    seen: str = ""
    """What they saw when they answered; empty when nothing says."""
    answer: bytes = b""
    """The answer by its hash, where somebody of each of several groups is asked."""
    documents: bytes = b""
    """The documents that the payload refers to, as they are now, by a hash."""


class EndCall(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """A called process has ended: with a payload and flags, or with an error's code."""

    node: int
    status: str
    head: bytes = b""
    flags: Flags = {}
    failure: Failure | None = None
    worker: int = 0


class Escalate(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """A called process, which goes on, threw an escalation that nothing in it caught."""

    node: int
    code: str
    worker: int = 0


class Cancel(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """Stop; compensates only when asked to."""

    reason: str = ""
    compensates: bool = False
    worker: int = 0
    follows: bool = False
    """The work that the instance belongs to has ended, and the instance with it."""
    unseen: tuple[Guard, ...] = ()
    """Tasks that the act leaves behind and that only others know of."""


class Suspend(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """`for_itself`: it is suspended already, because what called it is, and stays so when that goes on."""

    reason: str = ""
    for_itself: bool = False


class ChangeCarrier(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """Let another engine decide from now on; it is refused while a worker has a job."""

    carrier: str
    run: str
    certificate: bytes
    reason: str = ""


class Resume(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """`timers`: keep (what fell due meanwhile fires now) or shift (everything is later by the time suspended)."""

    timers: Literal["keep", "shift"] = "keep"
    worker: int = 0


class Modify(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """Cancel tokens by their node and start new ones before elements; flags and data are set by hand."""

    cancels: tuple[int, ...] = ()
    starts: tuple[str, ...] = ()
    flags: Flags = {}
    reason: str = ""
    worker: int = 0
    unseen: tuple[Guard, ...] = ()
    """Tasks that the act leaves behind and that only others know of."""
    head: bytes = b""
    """The payload with data that was changed by hand; empty where none was."""
    by: str = ""
    """Who changed the data."""
    change: bytes = b""
    """The hash of what was changed, whoever changes it when; an override is agreed to for that."""


class Migrate(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """Go on under another definition. `mapping` from old to new element ids; unnamed ones keep theirs."""

    definition: bytes
    version: int = 0
    mapping: dict[str, str] = {}
    flags: dict[str, str] = {}
    """Flags that are called otherwise in the new definition, old to new."""
    reason: str = ""
    worker: int = 0
    agreed: ConsequenceTier | Literal[""] = ""
    """The consequence that was agreed to."""
    unseen: tuple[Guard, ...] = ()
    """Tasks that the act leaves behind and that only others know of."""


class RaiseIncident(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    node: int
    code: str
    text: str
    attempt: int = 0
    job_worker: int = 0


class RetryIncident(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """Try again what is stuck, after editing flags where needed."""

    node: int
    flags: Flags = {}
    reason: str = ""
    worker: int = 0
    agreed: ConsequenceTier | Literal[""] = ""
    """The consequence that was agreed to."""
    unseen: tuple[Guard, ...] = ()
    """Tasks that the act leaves behind and that only others know of."""


class ResolveIncident(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """End what is stuck by hand: as if it had completed with these, or failed with a business error's code."""

    node: int
    head: bytes = b""
    flags: Flags = {}
    error: str = ""
    reason: str = ""
    worker: int = 0
    data: bytes = b""
    """What is recorded, by its hash, whoever records it."""
    unseen: tuple[Guard, ...] = ()
    """Tasks that the act leaves behind and that only others know of."""


class NoteFailedCorrelation(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """Record that a message which concerns the instance was not correlated; nothing else changes."""

    name: str
    key: str
    message_id: str
    outcome: str
    why: str


class Erase(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """Remove the data of an ended instance and keep its history."""

    reason: str


class NoteOnTask(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True):
    """Keep in the data where an open task is shown outside, such as the number of its issue."""

    node: int
    head: bytes
    by: str


Command = (
    StartInstance | LeaseJob | RecordJob | Correlate | FireTimer | ClaimTask | UnclaimTask | DelegateTask | ReassignTask
    | CompleteTask | EndCall | Escalate | Cancel | Suspend | Resume | Modify | Migrate | RaiseIncident | RetryIncident
    | ResolveIncident | NoteFailedCorrelation | Erase | ChangeCarrier | NoteOnTask | ReserveBudget | SetBudget
)  # fmt: skip
