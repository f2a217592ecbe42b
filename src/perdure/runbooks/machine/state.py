"""The state of a runbook: small frozen values, encoded as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, assert_never, cast, get_args

import msgspec
from msgspec.structs import replace

from perdure.agent_usage import Ledger, Spent
from perdure.human_tasks import HumanTask, gate_groups
from perdure.journal import Parts
from perdure.journal.state_parts import INLINE
from perdure.overrides import Override
from perdure.verb_contract import FailureClass

STATE_VERSION = 7

StepState = Literal["pending", "ready", "running", "parked", "completed", "failed", "skipped", "cancelled"]
RunbookState = Literal["draft", "ready", "executing", "parked", "completed", "failed", "escalated", "cancelled"]
OnFailure = Literal["fail", "stop", "continue", "ask", "decide"]
Flags = dict[str, str | bool | int]


def _is_ended(state: StepState) -> bool:
    match state:
        case "completed" | "failed" | "skipped" | "cancelled":
            return True
        case "pending" | "ready" | "running" | "parked":
            return False
        case _:
            assert_never(state)


def is_settled(state: RunbookState) -> bool:
    """Whether a call or a runbook has ended, or only others move it on."""
    match state:
        case "completed" | "failed" | "cancelled" | "parked" | "escalated":
            return True
        case "draft" | "ready" | "executing":
            return False
        case _:
            assert_never(state)


ENDED: frozenset[str] = frozenset(each for each in get_args(StepState) if _is_ended(each))
"""The states of a step that has ended."""
SETTLED: frozenset[str] = frozenset(each for each in get_args(RunbookState) if is_settled(each))
"""The states of a call or a runbook that has ended, or that only others move on."""

TokenState = Literal["waiting", "resolved", "timed_out", "cancelled"]
TOKEN_STATES: tuple[TokenState, ...] = get_args(TokenState)


def _stored(state: TokenState) -> int:
    """The number a state of a token is stored as: its place among them."""
    match state:
        case "waiting":
            return 0
        case "resolved":
            return 1
        case "timed_out":
            return 2
        case "cancelled":
            return 3
        case _:
            assert_never(state)


WAITING, RESOLVED, TIMED_OUT, CANCELLED = map(_stored, TOKEN_STATES)
STEP_STATES: tuple[StepState, ...] = (
    "pending", "ready", "running", "parked", "completed", "failed", "skipped", "cancelled"
)  # fmt: skip
PENDING, READY, RUNNING, PARKED, COMPLETED, FAILED, SKIPPED, STOPPED = range(8)


class Compact(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A value stored as an array."""


class Failure(Compact, frozen=True):
    """Why an attempt or a step failed: its class, a stable code, and words an operator can act on."""

    kind: FailureClass
    code: str
    message: str


class Frame(Compact, frozen=True):
    """The durable record of the latest execution of a step."""

    attempt: int
    status: Literal["started", "completed", "failed", "incident"]
    started_at: int
    worker: int = 0
    ended_at: int = 0
    failure: Failure | None = None
    interruptions: int = 0


class Hold(Compact, frozen=True):
    """Why work that could run does not: a stable code, and words."""

    code: str
    text: str
    at: int


class Token(Compact, frozen=True):
    """Something waiting. An empty key stands for the step's own id."""

    name: str
    key: str
    status: int
    parked_at: int
    due: int = 0
    escalation: str = ""
    escalates: bool = False
    is_shared: bool = False
    """Whether one completion may end several such waits."""
    task: HumanTask | None = None
    """For whom it is, where not everyone with the key may end it."""


class Incident(Compact, frozen=True):
    """Stuck, needs a person: what happened and what would help."""

    code: str
    text: str
    opened_at: int
    attempt: int = 0


class Amendment(Compact, frozen=True):
    """A correction of data proposed by one person and waiting for another."""

    number: int
    target: Literal["input", "result"]
    hash: bytes
    reason: str
    by: str
    at: int
    approved_by: str = ""
    behind: tuple[str, ...] = ()


class Pin(Compact, frozen=True):
    """The process that carries a step, pinned when the step was asked for."""

    process: str
    version: int
    definition: bytes


class VerbPin(Compact, frozen=True):
    """A verb as it was when a runbook was started: what compensates a step, or decides about it."""

    verb: str
    version: int
    definition: bytes


class Links(Compact, frozen=True):
    """What a step of a plan hangs on and what hangs on it, by number."""

    name: str
    needs: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    sides: tuple[tuple[int, bool], ...] = ()
    """Choices it is on one side of."""
    either: tuple[tuple[int, ...], ...] = ()
    """Needs of which one is enough: the same name bound on both sides of a choice."""
    dependents: tuple[int, ...] = ()
    unmet: int = 0
    on_failure: OnFailure = "stop"
    gate: str = ""
    alternative: VerbPin | None = None
    compensate: VerbPin | None = None
    side: bool | None = None
    """How the choice came out."""
    is_open: bool = False
    """Somebody agreed at its gate."""
    gated_at: int = 0
    """Since when it waits at its gate."""
    is_passed: bool = False
    """Its failure was accepted: what hangs on it has gone on without it."""
    begun_at: int = 0
    ended_at: int = 0
    locks: tuple[str, ...] = ()
    round: int = 0
    """How often it was begun anew after it had failed for good."""
    tried: int = 0
    """Attempts made before that."""
    previous: int = 0
    """The step that completed before it, of those that can be compensated."""
    undoes: int = 0
    decides: int = 0
    """The failed step a decision is asked about."""
    agreed: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Groups of the gate that have agreed, each with who did and who stands behind them."""
    agreed_on: str = ""
    """What they saw when they agreed."""
    asked_at: int = 0
    """Since when somebody is asked what becomes of its failure."""

    @property
    def awaited(self) -> tuple[str, ...]:
        """The groups of the gate that have not agreed yet."""
        given = {group for group, _ in self.agreed}
        return tuple(group for group in gate_groups(self.gate) if group not in given)


class Step(Compact, frozen=True):
    """One asking of one verb, pinned to the definition it was asked under. Without a verb it is a choice."""

    verb: str
    version: int
    definition: bytes
    status: StepState
    input: bytes
    frame: Frame | None = None
    tokens: tuple[Token, ...] = ()
    result: bytes | None = None
    error: Failure | None = None
    retry_at: int = 0
    incident: Incident | None = None
    progress: str = ""
    flags: Flags = msgspec.field(default_factory=dict)
    carrier: Pin | None = None
    links: Links | None = None
    """Of a step of a plan; a call has none."""
    spent: Spent | None = None
    """What its agent has used, in all attempts."""
    proposal: bytes = b""
    """What its agent would have said, had it been sure or entitled: by its hash."""
    question: bytes = b""
    """What its agent asked a person last, by its hash."""
    answer: bytes = b""
    """What was answered to that, by its hash; empty while nobody has."""
    uncounted: int = 0
    """Attempts that are none for the retry policy: they ended in a question, or were held."""
    hold: Hold | None = None
    """Why it was held last."""

    @property
    def is_asking(self) -> bool:
        """Whether a person is asked something that its agent goes on with."""
        is_waiting = any(token.status == WAITING for token in self.tokens)
        is_open = bool(self.question) and not self.answer and not self.proposal
        return is_open and self.status == "parked" and is_waiting


class Fragment(Compact, frozen=True):
    """Steps that were added together: the document that holds their arguments, and where they begin."""

    document: bytes
    first: int
    count: int


class Course(Compact, frozen=True):
    """How far a plan has come: whatever deciding needs to know without looking at every step."""

    plan: bytes
    fragments: tuple[Fragment, ...]
    counts: tuple[int, ...]
    """Steps by state, in the order of STEP_STATES."""
    ready: tuple[int, ...] = ()
    held: tuple[int, ...] = ()
    """Steps that could run if no failure stopped the runbook."""
    stops: int = 0
    asks: int = 0
    retrying: int = 0
    escalated: int = 0
    last_undoable: int = 0
    is_sealed: bool = True
    case: str = ""
    decider: VerbPin | None = None
    """Asked at every resume."""
    locks: tuple[str, ...] = ()
    ending: RunbookState | Literal[""] = ""
    """Once it compensates: the state it is in when that is over."""
    unrecovered: int = 0
    """Steps that could not be compensated."""
    fails: int = 0
    """Failed steps with which the runbook fails once everything that does not need them has ended."""


class Draft(Compact, frozen=True):
    """A runbook that is still being written: its revisions by hash, and which of them holds."""

    revisions: tuple[bytes, ...]
    current: int
    case: str = ""


Steps = tuple[Step, ...]
"""More than a few are `Parts`, which read like a tuple."""


class Runbook(Compact, frozen=True):
    """The aggregate. Fields a row carries besides (id, tenant, version) are not repeated here."""

    version: int
    status: RunbookState
    started_at: int
    principal: str
    trace: str
    steps: Steps
    ended_at: int = 0
    parent: str = ""
    amendments: tuple[Amendment, ...] = ()
    erased_at: int = 0
    idempotency_key: str = ""
    course: Course | None = None
    """Of a plan; a call has none."""
    draft: Draft | None = None
    apart: tuple[int, bytes] | None = None
    """As stored, when the steps are rows by themselves: how many there are, and what they sum up to."""
    spent: Spent | None = None
    """What its agents have used, in all attempts of all steps."""
    behind: tuple[str, ...] = ()
    """Who asked besides the principal: who drafted, changed, extended or amended it, and who made their keys."""

    overrides: tuple[Override, ...] = ()
    """Acts around its tasks: those that wait for somebody, and the latest that were done."""
    ledger: Ledger | None = None
    """What attempts of agents have reserved of its budget, and the bounds that somebody set."""

    @property
    def askers(self) -> tuple[str, ...]:
        return (self.principal, *self.behind)


def asked_by(state: Runbook, names: tuple[str, ...]) -> Runbook:
    """The same, with more who count as asking for it."""
    new = tuple(dict.fromkeys(name for name in names if name and name not in state.askers))
    return replace(state, behind=(*state.behind, *new)) if new else state


def with_step(steps: Steps, number: int, step: Step) -> Steps:
    if type(steps) is tuple:
        return steps[: number - 1] + (step,) + steps[number:]  # noqa: RUF005  half the time, and this is done often
    return cast(Steps, cast(Parts[Step], steps).set(number - 1, step))


def extended(steps: Steps, more: Iterable[Step]) -> Steps:
    """With more at the end; beyond a few they are changed one at a time without copying all."""
    if type(steps) is not tuple:
        return cast(Steps, cast(Parts[Step], steps).extend(more))
    whole = (*steps, *more)
    return whole if len(whole) <= INLINE else cast(Steps, Parts.of(whole))


def has_step(number: int) -> Callable[[Runbook], bool]:
    """Whether a state knows a step; others may have added it since the state was remembered."""
    return lambda state: len(state.steps) >= number


def links_of(step: Step) -> Links:
    """The links of a step that is known to be part of a plan."""
    assert step.links is not None
    return step.links


def short(definition: bytes) -> int:
    """The first eight bytes of a definition's hash as a signed number, for index rows."""
    return int.from_bytes(definition[:8], "big", signed=True)


def step_id(id_letters: str, step: int) -> str:
    """The stable name of a step: the default correlation and idempotency key."""
    return f"{id_letters}:{step}"
