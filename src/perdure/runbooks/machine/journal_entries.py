"""Entries of a runbook: past tense, tagged by number, never changed once shipped."""

from __future__ import annotations

from typing import Literal

import msgspec

from perdure.agent_usage import ModelUse
from perdure.human_tasks import Rung, RungAct
from perdure.moments import iso
from perdure.runbooks.machine.state import Compact, Failure, Flags, OnFailure, VerbPin

ENTRY_VERSION = 7
TIMES = frozenset({"at", "due", "due_at", "expires_at", "retry_at"})


class CallStarted(Compact, frozen=True, tag=1):
    verb: str
    definition_version: int
    definition: bytes
    input: bytes
    at: int
    principal: str
    trace: str = ""
    parent: str = ""
    idempotency_key: str = ""
    behind: tuple[str, ...] = ()


class AttemptStarted(Compact, frozen=True, tag=2):
    step: int
    attempt: int
    at: int
    worker: int
    interruptions: int = 0
    definition: bytes = b""
    """The hash of the verb's definition that the attempt runs under."""


class AttemptFailed(Compact, frozen=True, tag=3):
    step: int
    attempt: int
    at: int
    failure: Failure
    retry_at: int = 0
    trace: bytes = b""
    """The hash of the traceback, a payload that can be erased; empty when none was kept."""


class AttemptDiscarded(Compact, frozen=True, tag=4):
    """An attempt reported after it had been superseded: recorded, not applied."""

    step: int
    attempt: int
    at: int
    worker: int
    why: str


class StepCompleted(Compact, frozen=True, tag=5):
    step: int
    at: int
    result: bytes
    flags: Flags = msgspec.field(default_factory=dict)


class StepFailed(Compact, frozen=True, tag=6):
    step: int
    at: int
    failure: Failure


class StepParked(Compact, frozen=True, tag=7):
    step: int
    at: int
    name: str
    key: str = ""
    due: int = 0
    escalation: str = ""
    is_shared: bool = False


class CompletionReceived(Compact, frozen=True, tag=8):
    """The wait of a token ended with a completion."""

    step: int
    token: int
    at: int
    message_id: str = ""


class CompletionIgnored(Compact, frozen=True, tag=9):
    """A completion arrived for a token that had ended: recorded, not applied."""

    step: int
    token: int
    at: int
    message_id: str
    why: str


class TimedOut(Compact, frozen=True, tag=10):
    step: int
    token: int
    at: int


class Escalated(Compact, frozen=True, tag=11):
    step: int
    at: int
    to: str
    key: str = ""


class IncidentRaised(Compact, frozen=True, tag=12):
    step: int
    at: int
    code: str
    text: str
    attempt: int = 0


class IncidentResolved(Compact, frozen=True, tag=13):
    step: int
    at: int
    how: Literal["retried", "completed", "failed", "cancelled"]
    reason: str = ""


class CancelRequested(Compact, frozen=True, tag=14):
    at: int
    reason: str = ""


class CallCancelled(Compact, frozen=True, tag=15):
    at: int
    completed_steps: int = 0


class ProgressPosted(Compact, frozen=True, tag=16):
    step: int
    at: int
    text: str


class AmendmentProposed(Compact, frozen=True, tag=17):
    number: int
    target: Literal["input", "result"]
    hash: bytes
    reason: str
    by: str
    at: int
    names: tuple[str, ...] = ()
    """Who proposed it, and who stands behind them: from now on they count as asking."""


class AmendmentApproved(Compact, frozen=True, tag=18):
    number: int
    by: str
    at: int
    overrides: bool = False
    """Whether it changes data that a human task was, or is to be, decided on."""


class PayloadErased(Compact, frozen=True, tag=19):
    """The data is gone by right or by retention; hashes stay, so the chain still verifies."""

    at: int
    reason: str


class StepReady(Compact, frozen=True, tag=20):
    """The step waits for any worker."""

    step: int
    at: int


class ProcessAsked(Compact, frozen=True, tag=21):
    """The step is carried by a process: an instance of this version is begun for it."""

    step: int
    at: int
    process: str
    process_version: int
    definition: bytes


class IncidentCreated(Compact, frozen=True, tag=22):
    """The process that carries the step is stuck and needs a person; the step stays parked."""

    step: int
    at: int
    token: int
    element: str
    code: str
    text: str


class IncidentClosed(Compact, frozen=True, tag=23):
    """What was stuck in the process goes on."""

    step: int
    at: int
    token: int
    element: str
    how: str


class Added(Compact, frozen=True):
    """A step as it is added to a plan; its arguments stand in the document."""

    name: str
    verb: str
    definition_version: int
    definition: bytes
    needs: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    sides: tuple[tuple[int, bool], ...] = ()
    either: tuple[tuple[int, ...], ...] = ()
    on_failure: OnFailure = "stop"
    gate: str = ""
    alternative: VerbPin | None = None
    compensate: VerbPin | None = None
    undoes: int = 0
    decides: int = 0


class RunbookStarted(Compact, frozen=True, tag=24):
    """A plan runs from here; its steps follow."""

    at: int
    principal: str
    trace: str
    plan: bytes
    case: str = ""
    is_sealed: bool = True
    decider: VerbPin | None = None
    idempotency_key: str = ""
    behind: tuple[str, ...] = ()


class StepsAdded(Compact, frozen=True, tag=25):
    """The plan grew: those before are unchanged. Without a document the steps have no arguments of their own."""

    at: int
    plan: bytes
    document: bytes
    first: int
    steps: tuple[Added, ...]
    names: tuple[str, ...] = ()
    """Who extended it, where somebody did."""


class EdgesAdded(Compact, frozen=True, tag=26):
    """Steps that had not begun come after others now: pairs of the step and the one before it."""

    at: int
    edges: tuple[tuple[int, int], ...]


class StepBegun(Compact, frozen=True, tag=27):
    """The step's references were resolved: this is what its verb is asked with, and what it keeps others from."""

    step: int
    at: int
    input: bytes
    locks: tuple[str, ...] = ()


class ChoiceMade(Compact, frozen=True, tag=28):
    step: int
    at: int
    side: bool


class StepSkipped(Compact, frozen=True, tag=29):
    """The step will not run."""

    step: int
    at: int
    why: Literal["choice", "input", "failure", "person", "decision"]
    reason: str = ""


class StepCancelled(Compact, frozen=True, tag=30):
    step: int
    at: int
    reason: str = ""


class FailurePassed(Compact, frozen=True, tag=31):
    """The runbook goes on in spite of a failed step: what needs its result is skipped."""

    step: int
    at: int


class FailureAsked(Compact, frozen=True, tag=74):
    """Somebody is asked what becomes of a failed step: it is a task until they say."""

    step: int
    at: int


class StepsHeld(Compact, frozen=True, tag=32):
    """Steps that could run wait, because a failure stopped the runbook."""

    at: int
    steps: tuple[int, ...]


class StepRetried(Compact, frozen=True, tag=33):
    """A failed step begins anew."""

    step: int
    at: int
    reason: str = ""


class DecisionMade(Compact, frozen=True, tag=34):
    """A decision changed what is still to come; the changes follow in the same record."""

    step: int
    at: int
    reason: str = ""
    confidence: float | None = None
    is_last: bool = False


class GateClosed(Compact, frozen=True, tag=35):
    """The step waits until someone of the group agrees."""

    step: int
    at: int
    group: str


class GateAnswered(Compact, frozen=True, tag=36):
    step: int
    at: int
    by: str
    agrees: bool
    reason: str = ""
    group: str = ""
    """The group they answered for, where the gate asks for several."""
    behind: tuple[str, ...] = ()
    seen: str = ""
    """What they decided on: the hashes of the plan and of the arguments."""


class RunbookSealed(Compact, frozen=True, tag=37):
    at: int


class CompensationStarted(Compact, frozen=True, tag=38):
    """What completed is taken back from here on, the last first."""

    at: int
    reason: str = ""


class RunbookCompleted(Compact, frozen=True, tag=39):
    at: int


class RunbookFailed(Compact, frozen=True, tag=40):
    at: int


class DraftOpened(Compact, frozen=True, tag=41):
    at: int
    principal: str
    trace: str
    document: bytes
    case: str = ""
    behind: tuple[str, ...] = ()


class DraftRevised(Compact, frozen=True, tag=42):
    at: int
    document: bytes
    change: str = ""
    names: tuple[str, ...] = ()


class DraftMoved(Compact, frozen=True, tag=43):
    """Another revision of the draft holds now: it was undone, or done again."""

    at: int
    revision: int
    names: tuple[str, ...] = ()


class CompensationEnded(Compact, frozen=True, tag=44):
    """Nothing is left to take back; with `failures`, that many could not be."""

    at: int
    how: Literal["cancelled", "failed"]
    failures: int = 0


class TaskOpened(Compact, frozen=True, tag=50):
    """A wait is for somebody. `requester` is who may not answer, where four eyes are needed."""

    step: int
    token: int
    at: int
    assignee: str = ""
    groups: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    due: str = ""
    due_at: int = 0
    requester: str = ""
    ladder: tuple[Rung, ...] = ()
    title: str = ""
    behind: tuple[str, ...] = ()
    agents: bool = False


class TaskActed(Compact, frozen=True, tag=51):
    """What a person did with a task; an administrator who did it for others gave a reason."""

    step: int
    token: int
    at: int
    act: Literal["claim", "unclaim", "delegate", "reassign", "complete"]
    by: str
    to: str = ""
    groups: tuple[str, ...] = ()
    reason: str = ""
    seen: str = ""
    """What an answer is about: the hashes of the arguments and of what an agent proposed."""


class TaskChased(Compact, frozen=True, tag=52):
    """Nobody answered for so long: those who have the task are reminded, or others have it instead or as well."""

    step: int
    token: int
    at: int
    act: RungAct
    group: str = ""
    user: str = ""


class AgentUsed(Compact, frozen=True, tag=60):
    """What an attempt of an agent used, whatever became of it. `is_cut`: a run of it before was cut off, unmetered."""

    step: int
    attempt: int
    at: int
    agent: str
    duration: int
    uses: tuple[ModelUse, ...] = ()
    is_cut: bool = False


class ProposalMade(Compact, frozen=True, tag=61):
    """An agent said something that does not count by itself: a person decides."""

    step: int
    at: int
    by: str
    proposal: bytes
    why: str
    confidence: float | None = None


class ProposalAnswered(Compact, frozen=True, tag=62):
    """A person took what the agent proposed, or answered otherwise."""

    step: int
    at: int
    by: str
    accepts: bool


class QuestionAsked(Compact, frozen=True, tag=63):
    """An agent asks a person something before it goes on; its attempt counts for no retry policy."""

    step: int
    attempt: int
    at: int
    by: str
    question: bytes


class QuestionAnswered(Compact, frozen=True, tag=64):
    """A person answered, and the agent goes on; `answer` is a payload that can be erased."""

    step: int
    at: int
    by: str
    answer: bytes


class StepHeld(Compact, frozen=True, tag=65):
    """Nothing could be tried: the step waits until then, or until somebody lets it go on: no attempt is counted."""

    step: int
    attempt: int
    at: int
    code: str
    text: str
    retry_at: int = 0


class BudgetReserved(Compact, frozen=True, tag=66):
    """What an attempt of an agent may use at most is set aside; cost in millionths, None where nothing bounds it."""

    step: int
    attempt: int
    at: int
    tokens: int | None
    cost: int | None


class BudgetReleased(Compact, frozen=True, tag=67):
    """The attempt has ended: what it used is counted, and what it had reserved is free."""

    step: int
    at: int


class BudgetSet(Compact, frozen=True, tag=68):
    """Somebody set what all agents of the work may use; None: as its verbs say."""

    at: int
    by: str
    max_tokens: int | None
    max_cost: int | None
    reason: str = ""
    loosens: bool = False


class OverrideProposed(Compact, frozen=True, tag=70):
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


class OverrideAgreed(Compact, frozen=True, tag=71):
    """Somebody else, who could have answered tasks that an act goes around, agrees to the act."""

    number: int
    at: int
    by: str
    reason: str
    behind: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()


class GateReopened(Compact, frozen=True, tag=72):
    """Something that was agreed to at a gate has changed before it was used: it is asked anew."""

    step: int
    at: int
    changed: tuple[str, ...]
    group: str


class TaskAnswered(Compact, frozen=True, tag=75):
    """Somebody of one of the groups that a task asks has answered; `answer` is a payload that can be erased."""

    step: int
    token: int
    at: int
    by: str
    group: str
    answer: bytes
    seen: str
    behind: tuple[str, ...] = ()
    reason: str = ""


class TaskReopened(Compact, frozen=True, tag=76):
    """The answers of some people count no longer: they took them back, or what they saw has changed."""

    step: int
    token: int
    at: int
    of: tuple[str, ...]
    changed: tuple[str, ...] = ()
    reason: str = ""


class CorrelationFailed(Compact, frozen=True, tag=73):
    """A message that names the call or step was not correlated: nobody waits for it, or nobody did in time."""

    step: int
    at: int
    name: str
    key: str
    message_id: str
    outcome: str
    why: str


Entry = (
    CorrelationFailed | OverrideProposed | OverrideAgreed | GateReopened | TaskAnswered | TaskReopened |
    AgentUsed | ProposalMade | ProposalAnswered | QuestionAsked | QuestionAnswered | StepHeld | BudgetReserved |
    BudgetReleased | BudgetSet |
    TaskOpened | TaskActed | TaskChased |
    CallStarted | AttemptStarted | AttemptFailed | AttemptDiscarded | StepCompleted | StepFailed | StepParked
    | CompletionReceived | CompletionIgnored | TimedOut | Escalated | IncidentRaised | IncidentResolved
    | CancelRequested | CallCancelled | ProgressPosted | AmendmentProposed | AmendmentApproved | PayloadErased
    | StepReady | ProcessAsked | IncidentCreated | IncidentClosed | RunbookStarted | StepsAdded | EdgesAdded
    | FailureAsked
    | StepBegun | ChoiceMade | StepSkipped | StepCancelled | FailurePassed | StepsHeld | StepRetried | DecisionMade
    | GateClosed | GateAnswered | RunbookSealed | CompensationStarted | RunbookCompleted | RunbookFailed
    | DraftOpened | DraftRevised | DraftMoved | CompensationEnded
)  # fmt: skip


def entry_name(entry: Entry) -> str:
    return type(entry).__name__


def entry_fields(entry: Entry) -> dict[str, object]:
    """The entry's fields by name for surfaces: hashes and times as text, failures by their parts."""
    return {field: _shown(field, getattr(entry, field)) for field in entry.__struct_fields__}


def _shown(field: str, value: object) -> object:
    if isinstance(value, bytes):
        return "sha256:" + value.hex()
    if isinstance(value, Failure):
        return {"failure_class": value.kind, "code": value.code, "message": value.message}
    if field in TIMES and isinstance(value, int):
        return iso(value or None)
    if isinstance(value, msgspec.Struct):
        return {name: _shown(name, getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, tuple):
        return [_shown("", each) for each in value]
    return value
