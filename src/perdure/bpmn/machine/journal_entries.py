"""Entries of an instance: past tense, tagged by number, never changed once shipped."""

from __future__ import annotations

from typing import Literal

import msgspec

from perdure.agent_usage import ModelUse
from perdure.bpmn.machine.state import Compact, Done, Failure, Flags, NodeKind, Status, Undo, WatchKind
from perdure.human_tasks import Rung, RungAct
from perdure.verb_contract import ConsequenceTier

ENTRY_VERSION = 8
How = Literal["completed", "interrupted", "cancelled", "consumed", "moved"]


class InstanceStarted(Compact, frozen=True, tag=1):
    definition: bytes
    process: str
    process_version: int
    at: int
    principal: str
    flags: Flags
    head: bytes
    trace: str = ""
    parent: str = ""
    business_key: str = ""
    start: str = ""
    idempotency_key: str = ""
    behind: tuple[str, ...] = ()
    agreed: ConsequenceTier | Literal[""] = ""
    """The consequence that the start was agreed to for."""


class Entered(Compact, frozen=True, tag=2):
    """A token stands on an element now."""

    number: int
    element: str
    parent: int
    kind: NodeKind
    at: int
    flow: str = ""
    iteration: int = 0


class Passed(Compact, frozen=True, tag=3):
    """A token went through an element without stopping: a gateway, a none event, an event that occurred."""

    element: str
    parent: int
    flow: str = ""


class Left(Compact, frozen=True, tag=4):
    """The token is gone from where it stood, and everything inside and armed on it with it."""

    number: int
    how: How


class Armed(Compact, frozen=True, tag=5):
    number: int
    node: int
    event: str
    kind: WatchKind
    name: str = ""
    key: str = ""
    due: int = 0
    cycle: str = ""
    left: int = 0
    is_met: bool = False


class Disarmed(Compact, frozen=True, tag=6):
    number: int


class Occurred(Compact, frozen=True, tag=7):
    """What a watch waited for has happened. `due` and `left` are those of the next time, 0 when there is none."""

    number: int
    at: int
    message_id: str = ""
    due: int = 0
    left: int = 0
    stays: bool = False


class JobMade(Compact, frozen=True, tag=8):
    """A node waits for a worker."""

    number: int
    verb: str
    run: int
    purpose: Literal["work", "intake", "undo"] = "work"
    message: bytes = b""
    definition: int = 0
    by: str = ""


class JobStarted(Compact, frozen=True, tag=9):
    """The intent: a worker holds the job and its handler is about to run."""

    number: int
    attempt: int
    at: int
    worker: int
    interruptions: int = 0
    flags: Flags = msgspec.field(default_factory=dict)
    """What flags that are summed were when it began."""
    head: bytes = b""
    """The hash of the payload that came in."""
    definition: bytes = b""
    """The hash of the verb's definition that the attempt runs under."""


class JobCompleted(Compact, frozen=True, tag=10):
    number: int
    at: int
    head: bytes
    verb: str


class JobFailed(Compact, frozen=True, tag=11):
    number: int
    attempt: int
    at: int
    failure: Failure
    retry_at: int = 0
    trace: bytes = b""
    """The hash of the traceback, a payload that can be erased; empty when none was kept."""


class JobDiscarded(Compact, frozen=True, tag=12):
    """A worker reported after its job was superseded: recorded, not applied."""

    number: int
    attempt: int
    at: int
    worker: int
    why: str


class FlagsWritten(Compact, frozen=True, tag=13):
    """Flags after merging, and who wrote them."""

    flags: Flags
    verb: str
    element: str


class HeadChanged(Compact, frozen=True, tag=14):
    """New data was merged: the head payload's hash now."""

    head: bytes
    by: str


class IncidentRaised(Compact, frozen=True, tag=15):
    number: int
    at: int
    code: str
    text: str


class IncidentResolved(Compact, frozen=True, tag=16):
    number: int
    at: int
    how: Literal["retried", "completed", "failed", "cancelled"]
    reason: str = ""
    attempts: int = 0
    """For a retried job: how many attempts there were; the next is the one after, and the policy grants all anew."""


class TaskOpened(Compact, frozen=True, tag=17):
    """A person is asked. `requester` is who may not answer, where four eyes are needed."""

    number: int
    assignee: str = ""
    groups: str = ""
    users: str = ""
    due: str = ""
    due_at: int = 0
    requester: str = ""
    ladder: tuple[Rung, ...] = ()
    behind: tuple[str, ...] = ()
    agents: bool = False


class TaskClaimed(Compact, frozen=True, tag=18):
    """`by` holds the task now; empty when it was given back."""

    number: int
    at: int
    by: str


class TaskReassigned(Compact, frozen=True, tag=19):
    number: int
    at: int
    to: str
    by: str
    groups: str = ""


class TaskCompleted(Compact, frozen=True, tag=20):
    number: int
    at: int
    by: str
    seen: str = ""
    """What they decided on: the hashes of the payload and of the process."""
    due_at: int = 0
    """When it was due; 0 where nothing said so, or of an entry that is older."""


class Thrown(Compact, frozen=True, tag=21):
    """Something left the instance, under a number that makes its id: a message, a signal, a call, its cancelling,
    an escalation for whoever called.
    """

    number: int
    kind: Literal["message", "signal", "call", "cancel_call", "escalation"]
    name: str
    key: str = ""
    element: str = ""


class ErrorThrown(Compact, frozen=True, tag=22):
    """A business error or an escalation and the event that caught it; empty when none did."""

    kind: Literal["error", "escalation"]
    code: str
    element: str
    caught_by: str = ""


class Iterated(Compact, frozen=True, tag=23):
    """Where the iterations of an activity are."""

    number: int
    total: int
    started: int
    ended: int


class Completed(Compact, frozen=True, tag=24):
    """An activity that can be undone has completed in a scope."""

    scope: int
    done: Done


class Undoing(Compact, frozen=True, tag=25):
    """Compensation as it stands: of all that `scope` has done it takes over what is not among what that `keeps`."""

    number: int
    undo: Undo
    scope: int = 0
    keeps: tuple[Done, ...] = ()


class Interrupted(Compact, frozen=True, tag=26):
    """An interrupting event subprocess took over a scope."""

    scope: int


class GatewayOpened(Compact, frozen=True, tag=27):
    """A complex gateway of a scope fired, or was reset: the tokens it still swallows, as `gateway flow`."""

    scope: int
    opened: tuple[str, ...]


class WatchMet(Compact, frozen=True, tag=28):
    """One of several things that must all happen has; or a condition became true or false.

    `message` is what arrived with it, by its hash, kept for the intake that runs when all have happened.
    """

    number: int
    is_met: bool
    message: bytes = b""


class CompensationStarted(Compact, frozen=True, tag=29):
    """The whole instance is being undone, because of a failure or because someone asked."""

    at: int
    failure: Failure | None = None


class InstanceSuspended(Compact, frozen=True, tag=30):
    at: int
    reason: str = ""


class InstanceResumed(Compact, frozen=True, tag=31):
    """Timers were kept, or shifted by the time it was suspended."""

    at: int
    shift: int = 0


class InstanceModified(Compact, frozen=True, tag=32):
    at: int
    reason: str
    cancelled: tuple[int, ...] = ()
    started: tuple[str, ...] = ()


class InstanceMigrated(Compact, frozen=True, tag=33):
    """Tokens stand on the elements of another definition now; `watches` go on under their new events."""

    at: int
    definition: bytes
    process: str
    process_version: int
    mapping: dict[str, str]
    flags: Flags
    reason: str = ""
    keeps_keys: bool = False
    """Whether jobs keep the keys they began under; not before version 3."""


class CancelRequested(Compact, frozen=True, tag=34):
    at: int
    reason: str = ""


class InstanceEnded(Compact, frozen=True, tag=35):
    at: int
    status: Status
    failure: Failure | None = None


class PayloadErased(Compact, frozen=True, tag=36):
    at: int
    reason: str


class ProgressPosted(Compact, frozen=True, tag=37):
    at: int
    text: str


class MessageIgnored(Compact, frozen=True, tag=38):
    """Something arrived for a wait that had ended: recorded, not applied."""

    at: int
    what: str
    message_id: str
    why: str


class Adopted(Compact, frozen=True, tag=39):
    """What undoes something goes on as part of a wider compensation that has begun meanwhile."""

    number: int
    parent: int


class TaskDelegated(Compact, frozen=True, tag=40):
    """Whoever had the task handed it to another person, and nobody has claimed it now."""

    number: int
    at: int
    to: str
    by: str


class TaskChased(Compact, frozen=True, tag=41):
    """Nobody answered for so long: those who have the task are reminded, or others have it instead or as well."""

    number: int
    at: int
    act: RungAct
    group: str = ""
    user: str = ""


class TaskOverridden(Compact, frozen=True, tag=42):
    """An administrator is about to act on a task for others, with a reason."""

    number: int
    at: int
    by: str
    act: str
    reason: str


class AgentUsed(Compact, frozen=True, tag=43):
    """What an attempt of an agent used, whatever became of it. `is_cut`: a run of it before was cut off, unmetered."""

    number: int
    attempt: int
    at: int
    agent: str
    duration: int
    uses: tuple[ModelUse, ...] = ()
    is_cut: bool = False


class JobRebound(Compact, frozen=True, tag=44):
    """Nobody holds the job, and it is of the verb that its element has under the plan of today. Its attempts go on."""

    number: int
    verb: str
    definition: int


class Rerouted(Compact, frozen=True, tag=45):
    """A token counts as one that came on another flow: its own has that name in the version migrated to."""

    number: int
    flow: str


class OverrideProposed(Compact, frozen=True, tag=46):
    """Somebody asks for an act that goes around tasks. `covered` are those of them that they could have answered."""

    number: int
    at: int
    act: bytes
    what: str
    tasks: tuple[str, ...]
    needs: str
    by: str
    reason: str
    behind: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()


class OverrideAgreed(Compact, frozen=True, tag=47):
    """Somebody else, who could have answered tasks that an act goes around, agrees to the act."""

    number: int
    at: int
    by: str
    reason: str
    behind: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()


class CorrelationFailed(Compact, frozen=True, tag=49):
    """A message that concerns the instance was not correlated: several want it, nobody does, or nobody did in time."""

    at: int
    name: str
    key: str
    message_id: str
    outcome: str
    why: str


class TaskAnswered(Compact, frozen=True, tag=50):
    """Somebody of one of the groups that a task asks has answered; `answer` is a payload that can be erased."""

    number: int
    at: int
    by: str
    group: str
    answer: bytes
    seen: str
    behind: tuple[str, ...] = ()


class TaskReopened(Compact, frozen=True, tag=51):
    """The answers of some people count no longer: they took them back, or what they saw has changed."""

    number: int
    at: int
    of: tuple[str, ...]
    changed: tuple[str, ...] = ()


class CarrierChanged(Compact, frozen=True, tag=52):
    """Another engine decides from the next record on, in a run of its own.

    `certificate` is the hash of what was moved.
    """

    at: int
    carrier: str
    run: str
    certificate: bytes
    reason: str = ""


class JobAsked(Compact, frozen=True, tag=53):
    """The agent of a job asks a person something before it goes on; its attempt counts for no retry policy."""

    number: int
    attempt: int
    at: int
    by: str
    question: bytes


class JobAnswered(Compact, frozen=True, tag=54):
    """A person answered, and the agent goes on; `answer` is a payload that can be erased."""

    number: int
    at: int
    by: str
    answer: bytes


class JobHeld(Compact, frozen=True, tag=55):
    """Nothing could be tried: the job waits until then, or until somebody lets it go on. The attempt does not count."""

    number: int
    attempt: int
    at: int
    code: str
    text: str
    retry_at: int = 0


class BudgetReserved(Compact, frozen=True, tag=56):
    """What an attempt of an agent may use at most is set aside; cost in millionths, None where nothing bounds it."""

    number: int
    attempt: int
    at: int
    tokens: int | None
    cost: int | None


class BudgetReleased(Compact, frozen=True, tag=57):
    """The attempt has ended: what it used is counted, and what it had reserved is free."""

    number: int
    at: int


class BudgetSet(Compact, frozen=True, tag=58):
    """Somebody set what all agents of the work may use; None: as its verbs say."""

    at: int
    by: str
    max_tokens: int | None
    max_cost: int | None
    reason: str = ""
    loosens: bool = False


class ConsequenceAgreed(Compact, frozen=True, tag=48):
    """Somebody agreed that the instance reaches something graver than its start was agreed to for."""

    at: int
    tier: ConsequenceTier
    by: str


Entry = (
    InstanceStarted | Entered | Passed | Left | Armed | Disarmed | Occurred | JobMade | JobStarted | JobCompleted
    | JobFailed | JobDiscarded | FlagsWritten | HeadChanged | IncidentRaised | IncidentResolved | TaskOpened
    | TaskClaimed | TaskReassigned | TaskCompleted | Thrown | ErrorThrown | Iterated | Completed | Undoing
    | Interrupted | GatewayOpened | WatchMet | CompensationStarted | InstanceSuspended | InstanceResumed
    | InstanceModified | InstanceMigrated | CancelRequested | InstanceEnded | PayloadErased | ProgressPosted
    | MessageIgnored | Adopted | TaskDelegated | TaskChased | TaskOverridden | TaskAnswered | TaskReopened
    | AgentUsed | JobRebound | Rerouted | JobAsked | JobAnswered | JobHeld
    | BudgetReserved | BudgetReleased | BudgetSet
    | OverrideProposed | OverrideAgreed | ConsequenceAgreed | CorrelationFailed | CarrierChanged
)  # fmt: skip
