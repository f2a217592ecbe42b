"""Commands to a runbook: imperative, complete, and without data (hashes only)."""

from __future__ import annotations

from typing import Literal

import msgspec

from perdure.agent_usage import Budget, Used
from perdure.human_tasks import Person, TaskContract
from perdure.overrides import Guard
from perdure.runbooks.machine.journal_entries import Added
from perdure.runbooks.machine.state import Failure, Pin, VerbPin
from perdure.verb_contract import RetryPolicy

NOBODY = Person("")


class Done(msgspec.Struct, frozen=True):
    """The handler returned: the result's hash and the flags it set."""

    result: bytes
    flags: dict[str, str | bool | int] = {}


class Park(msgspec.Struct, frozen=True):
    """The verb waits now: under which name and key, until when, and who takes over then."""

    name: str
    key: str = ""
    timeout_seconds: float | None = None
    escalation: str = ""
    carrier: Pin | None = None
    """The process that is to be started for it."""
    is_shared: bool = False
    task: TaskContract | None = None
    """For whom the wait is, filled in."""
    due: int = 0
    """When it ends, where business days were counted; otherwise `timeout_seconds` say."""


class Fail(msgspec.Struct, frozen=True):
    """The attempt failed; the policy says whether another may follow."""

    failure: Failure
    policy: RetryPolicy
    after_seconds: float | None = None
    trace: bytes = b""
    """The hash of the traceback that comes with it."""


class Propose(msgspec.Struct, frozen=True):
    """An agent is not sure enough, or not entitled: somebody of the group decides upon what it proposes."""

    name: str
    proposal: bytes
    by: str
    group: str
    why: str
    confidence: float | None = None


class Ask(msgspec.Struct, frozen=True):
    """An agent asks a person something, and goes on with the answer."""

    name: str
    question: bytes
    by: str
    task: TaskContract


class Hold(msgspec.Struct, frozen=True):
    """Nothing could be tried: the step waits so long, or until somebody lets it go on, and no attempt counts."""

    code: str
    text: str
    after_seconds: float | None = None


AttemptOutcome = Done | Park | Fail | Propose | Ask | Hold


class Chosen(msgspec.Struct, frozen=True):
    """A choice came out."""

    side: bool


class Misfit(msgspec.Struct, frozen=True):
    """What a step was to be asked with cannot be had or does not fit its verb."""

    code: str
    text: str


class Lacking(msgspec.Struct, frozen=True):
    """A decision cannot be asked at this resume: arguments that it must have are not there yet."""

    text: str


class Launch(msgspec.Struct, frozen=True):
    """Begin a ready step with what its references came to; without an outcome it is an intent."""

    step: int
    input: bytes = b""
    outcome: Park | Chosen | Misfit | Lacking | None = None
    locks: tuple[str, ...] = ()
    documents: bytes = b""
    """The documents that the arguments refer to, as they are now, by a hash; only where somebody agreed to the step."""


class Change(msgspec.Struct, frozen=True):
    """What a decision does to the plan, in the commit that records the decision.

    Steps are added onto `base`, a plan with so many steps; one that has changed since makes the whole command wait for
    another try.
    """

    base: bytes = b""
    plan: bytes = b""
    document: bytes = b""
    added: tuple[Added, ...] = ()
    skips: tuple[int, ...] = ()
    is_last: bool = False
    reason: str = ""
    confidence: float | None = None


class StartCall(msgspec.Struct, frozen=True):
    """Ask for a verb. Without an outcome it is an intent, leased to `worker` (0: to whoever comes first)."""

    verb: str
    version: int
    definition: bytes
    input: bytes
    worker: int = 0
    outcome: AttemptOutcome | None = None
    parent: str = ""
    idempotency_key: str = ""
    used: Used | None = None


class LeaseJob(msgspec.Struct, frozen=True):
    """Take a ready or abandoned job. `abandoned` names the dead worker it is taken from."""

    step: int
    worker: int
    abandoned: int = 0
    redelivery: str = "rerun"


class RecordAttempt(msgspec.Struct, frozen=True):
    """What became of one attempt."""

    step: int
    attempt: int
    worker: int
    outcome: AttemptOutcome
    launches: tuple[Launch, ...] = ()
    change: Change | None = None
    used: Used | None = None
    """What its agent used, or whatever else asked models."""
    budget: Budget | None = None
    wanted: Budget = Budget()
    """What one attempt may use at most, as the verb says."""


class ReserveBudget(msgspec.Struct, frozen=True):
    """Set aside what an attempt may use at most, before its agent is asked; all that is left where it does not say."""

    step: int
    attempt: int
    worker: int
    budget: Budget
    wanted: Budget = Budget()


class SetBudget(msgspec.Struct, frozen=True):
    """Set what all agents of the work may use; what is None stays. To loosen it is a decision of its own."""

    declared: Budget
    """The bounds of its verbs, where nobody has set others."""
    max_tokens: int | None = None
    max_cost: int | None = None
    loosens: bool = False
    reason: str = ""


class Complete(msgspec.Struct, frozen=True):
    """What ends a wait: a result, a failure, or an expiry."""

    step: int
    token: int
    result: bytes | None = None
    failure: Failure | None = None
    is_expired: bool = False
    message_id: str = ""
    worker: int = 0
    """Whom the launches are leased to."""
    launches: tuple[Launch, ...] = ()
    change: Change | None = None
    who: Person = NOBODY
    """Who sent it: a wait that is a human task ends only by those it is for."""
    accepts: bool = False
    """It is what the agent of the step proposed."""
    seen: str = ""
    """What they saw when they answered; empty when nothing says."""
    answer: bytes = b""
    """The answer by its hash, where somebody of each of several groups is asked."""
    documents: bytes = b""
    """The documents that the arguments refer to, as they are now, by a hash."""


class ActOnTask(msgspec.Struct, frozen=True):
    """Take a human task, give it back, or hand it on; `groups` are comma separated."""

    step: int
    act: Literal["claim", "unclaim", "delegate", "reassign"]
    who: Person
    to: str = ""
    groups: str = ""


class FireTimer(msgspec.Struct, frozen=True):
    """A timer is due. Firing twice is firing once."""

    step: int
    kind: str
    due: int
    worker: int = 0


class Cancel(msgspec.Struct, frozen=True):
    """Stop the call, or one step of a runbook; nothing is compensated unless it says so."""

    reason: str = ""
    step: int = 0
    compensates: bool = False
    unseen: tuple[Guard, ...] = ()
    """Tasks of the step that only others know of, as for `SkipStep`."""


class PostProgress(msgspec.Struct, frozen=True):
    """Say how it goes; never resumes anything."""

    step: int
    text: str


class TellIncident(msgspec.Struct, frozen=True):
    """What happened in the process that carries a step: an incident there, or, with `how`, its end."""

    step: int
    token: int
    element: str
    code: str = ""
    text: str = ""
    how: str = ""


class RaiseIncident(msgspec.Struct, frozen=True):
    """Something only a person can mend."""

    step: int
    code: str
    text: str


class RetryIncident(msgspec.Struct, frozen=True):
    """Try again what is stuck, leased to `worker`."""

    step: int
    worker: int


class ResolveIncident(msgspec.Struct, frozen=True):
    """End what is stuck by hand, with a result or a failure."""

    step: int
    result: bytes | None = None
    failure: Failure | None = None
    reason: str = ""
    unseen: tuple[Guard, ...] = ()
    """Tasks of the step that only others know of, as for `SkipStep`."""


class ProposeAmendment(msgspec.Struct, frozen=True):
    """Ask to correct data; a second person must agree."""

    target: Literal["input", "result"]
    hash: bytes
    reason: str


class ApproveAmendment(msgspec.Struct, frozen=True):
    """Agree to a correction someone else proposed."""

    number: int


class Erase(msgspec.Struct, frozen=True):
    """Remove the data of an ended call and keep its history."""

    reason: str


class StartRunbook(msgspec.Struct, frozen=True):
    """Run a plan, from nothing or from a draft. `launches` are those of its steps that begin at once."""

    plan: bytes
    document: bytes
    steps: tuple[Added, ...]
    worker: int = 0
    case: str = ""
    is_sealed: bool = True
    decider: VerbPin | None = None
    launches: tuple[Launch, ...] = ()
    idempotency_key: str = ""


class LaunchSteps(msgspec.Struct, frozen=True):
    """Begin ready steps, leased to `worker`."""

    worker: int
    launches: tuple[Launch, ...]


class ExtendPlan(msgspec.Struct, frozen=True):
    """Add steps to the plan `base`, and let steps that have not begun come after others."""

    base: bytes
    plan: bytes
    document: bytes
    steps: tuple[Added, ...]
    edges: tuple[tuple[int, int], ...] = ()
    """(step, the step it now comes after)"""


class SealRunbook(msgspec.Struct, frozen=True):
    """No more steps will come: it completes when those there are have ended."""


class RetryStep(msgspec.Struct, frozen=True):
    """Begin a failed step anew."""

    step: int
    reason: str = ""


class SkipStep(msgspec.Struct, frozen=True):
    """Go on without a step; what needs its result is skipped as well."""

    step: int
    reason: str
    unseen: tuple[Guard, ...] = ()
    """Tasks of the step that the runbook does not know of: those of its verb, or of the process that carries it."""


class Compensate(msgspec.Struct, frozen=True):
    """Take back what completed, the last first."""

    reason: str = ""


class AnswerGate(msgspec.Struct, frozen=True):
    """Agree, or refuse, that a step runs, as a member of the gate's group."""

    step: int
    agrees: bool
    reason: str = ""
    seen: str = ""
    """What they saw when they answered; empty when nothing says."""
    documents: bytes = b""
    """The documents that the arguments of the step refer to, as they are now, by a hash."""


class OpenDraft(msgspec.Struct, frozen=True):
    """Begin to write a runbook."""

    document: bytes
    case: str = ""


class NoteFailedCorrelation(msgspec.Struct, frozen=True):
    """Record that a message which names the call or one of its steps was not correlated; nothing else changes."""

    step: int
    name: str
    key: str
    message_id: str
    outcome: str
    why: str


class ReviseDraft(msgspec.Struct, frozen=True):
    """The draft reads differently now; what had been undone is gone."""

    document: bytes
    change: str = ""


class UndoRevision(msgspec.Struct, frozen=True):
    """Back to the revision before."""


class RedoRevision(msgspec.Struct, frozen=True):
    """Forward to the revision that was undone."""


Command = (
    StartCall | ActOnTask | LeaseJob | RecordAttempt | Complete | FireTimer | Cancel | PostProgress | RaiseIncident
    | RetryIncident | ResolveIncident | TellIncident | ProposeAmendment | ApproveAmendment | Erase | StartRunbook
    | LaunchSteps | ExtendPlan | SealRunbook | RetryStep | SkipStep | Compensate | AnswerGate | OpenDraft
    | ReviseDraft | UndoRevision | RedoRevision | NoteFailedCorrelation | ReserveBudget | SetBudget
)  # fmt: skip
