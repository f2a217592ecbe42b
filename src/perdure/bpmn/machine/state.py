"""The state of an instance: nodes where tokens stand, and their event subscriptions."""

from __future__ import annotations

from typing import Literal, assert_never, get_args

import msgspec

from perdure.agent_usage import Ledger, Spent
from perdure.human_tasks import HumanTask
from perdure.overrides import Override
from perdure.verb_contract import ConsequenceTier, FailureClass

STATE_VERSION = 8

Status = Literal[
    "active", "suspended", "completed", "failed", "cancelled", "terminated", "compensating", "compensated",
    "compensation_failed",
]  # fmt: skip
Flags = dict[str, str | bool | int]
Place = tuple[str, ...]
"""Where in the data something belongs: names of multi-instance activities, each with an iteration."""

NodeKind = Literal[
    "scope", "many", "loop", "job", "task", "wait", "gate", "join", "call", "undo", "stuck",
]  # fmt: skip
"""scope: the process, a subprocess · many, loop: around iterations · job: for a worker · task: for a person ·
wait: a catch event or receive task · gate: an event-based gateway · join: a token that arrived at a join ·
call: a called process · undo: compensation under way · stuck: a gateway or event that found no way out."""


def is_ended(status: Status) -> bool:
    """Whether an instance has ended."""
    match status:
        case "completed" | "failed" | "cancelled" | "terminated" | "compensated" | "compensation_failed":
            return True
        case "active" | "suspended" | "compensating":
            return False
        case _:
            assert_never(status)


def is_container(kind: NodeKind) -> bool:
    """Whether tokens stand inside a token of that kind."""
    match kind:
        case "scope" | "many" | "loop" | "undo":
            return True
        case "job" | "task" | "wait" | "gate" | "join" | "call" | "stuck":
            return False
        case _:
            assert_never(kind)


ENDED: frozenset[str] = frozenset(each for each in get_args(Status) if is_ended(each))
CONTAINERS: frozenset[str] = frozenset(each for each in get_args(NodeKind) if is_container(each))

JobState = Literal["ready", "leased", "pending"]
WatchKind = Literal["message", "timer", "signal", "condition"]
ROOT = 1
"""The number of the node that is the process itself."""


class Compact(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A value stored as an array."""


class Failure(Compact, frozen=True):
    """Why an attempt or an instance failed: its class, a stable code, and words an operator can act on."""

    kind: FailureClass
    code: str
    message: str


class Hold(Compact, frozen=True):
    """Why work that could run does not: a stable code, and words."""

    code: str
    text: str
    at: int


class Job(Compact, frozen=True):
    """A service task waiting for, or leased to, a worker, and the frame of its latest execution.

    `run` tells executions of one element apart: it counts them over loops and iterations, and makes the job's key.
    `base` is the head payload it started from, `since` the number of the flag change before it.
    """

    type: str
    run: int
    status: JobState = "ready"
    attempt: int = 0
    worker: int = 0
    started_at: int = 0
    retry_at: int = 0
    failure: Failure | None = None
    interruptions: int = 0
    base: bytes = b""
    since: int = 0
    purpose: Literal["work", "intake", "undo"] = "work"
    flags: Flags = {}
    message: bytes = b""
    """For an intake: the payload that arrived, by its hash."""
    definition: int = 0
    """The first eight bytes of the bound verb's hash, for index rows."""
    by: str = ""
    """For an intake: the person who brought what arrived, where one did."""
    before: int = 0
    """Attempts made before someone last asked to try again: the policy counts from there, the numbers go on."""
    began_as: str = ""
    """The element its run began as, where a migration has mapped that to another since: its key stays."""
    question: bytes = b""
    """What its agent asked a person last, by its hash."""
    answer: bytes = b""
    """What was answered to that, by its hash; empty while nobody has."""
    questions: int = 0
    """How many its agent has asked."""
    hold: Hold | None = None
    """Why it was held last."""

    @property
    def is_asking(self) -> bool:
        """Whether a person is asked something that its agent goes on with."""
        return bool(self.question) and not self.answer


class Many(Compact, frozen=True):
    """Iterations of an activity: how many there are to be, have been started and have ended."""

    total: int
    started: int = 0
    ended: int = 0


class Incident(Compact, frozen=True):
    """Stuck, needs a person: what happened and what would help."""

    code: str
    text: str
    opened_at: int


class Done(Compact, frozen=True):
    """An activity that completed and can be undone. A subprocess carries what was done inside it.

    Done so many `times` in a row, `iteration` is the last of them. Without an element it is a turn of a cycle: what is
    `inner`, in that order, so many times. Where it is to be undone `place` is that of what was around it, from there.
    """

    element: str
    handler: str = ""
    inner: tuple[Done, ...] = ()
    verb: str = ""
    iteration: int = 0
    base: bytes = b""
    times: int = 1
    place: Place = ()


class Undo(Compact, frozen=True):
    """Compensation under way: what is still to be undone, last first, and what goes on afterwards."""

    queue: tuple[Done, ...]
    then: Literal["leave", "cancel", "end", "none"] = "leave"
    failed: tuple[str, ...] = ()
    place: Place = ()
    """Where the results of what undoes now belong: in the iteration that is undone."""
    adopted: dict[int, Place] = {}
    """The same for each node that was undoing something when this took over."""


class Node(Compact, frozen=True):
    """Where a token stands. `parent` is the node of its scope, or of the iterations around it."""

    number: int
    element: str
    parent: int
    kind: NodeKind
    at: int = 0
    flow: str = ""
    iteration: int = 0
    job: Job | None = None
    task: HumanTask | None = None
    many: Many | None = None
    undo: Undo | None = None
    incident: Incident | None = None
    done: tuple[Done, ...] = ()
    is_interrupted: bool = False
    """An interrupting event subprocess has begun: no other starts in this scope any more."""
    opened: tuple[str, ...] = ()
    """For a scope: complex gateways that have fired and wait for their other tokens, as `gateway flow`."""

    def job_key(self, letters: str) -> str:
        """The key of its job, in the instance with these letters."""
        assert self.job is not None
        return job_key(letters, self.job.began_as or self.element, self.job.run)


class Watch(Compact, frozen=True):
    """Something that may happen to a node: its own event, a boundary event, an arm of a race, an event subprocess.

    `node` is the node it is armed on, `event` the BPMN event (or receive task) that occurs. `key` and `due` were frozen
    when it was armed. `cycle` says how it repeats, `left` how often it still may (-1: without end).
    """

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
    message: bytes = b""
    """What arrived with it, by its hash, while its event waits for others that must happen too."""

    @property
    def has_come(self) -> bool:
        """Whether it happened already and its event waits for others that must happen too."""
        return self.is_met and self.kind != "condition"


class Instance(msgspec.Struct, array_like=True, dict=True):
    """The aggregate. Decisions work on a private copy; nobody else changes one. Notes beside it are not stored."""

    version: int
    status: Status
    definition: bytes
    process: str
    process_version: int
    started_at: int
    principal: str
    trace: str
    parent: str
    business_key: str
    flags: Flags
    head: bytes
    next: int
    nodes: dict[int, Node]
    watches: dict[int, Watch]
    runs: dict[str, int]
    """How often each element that makes jobs was scheduled."""
    changes: int = 0
    written: dict[str, tuple[int, str, str]] = {}
    """Per flag that was written: the number of the change, the verb and the element that made it."""
    ended_at: int = 0
    erased_at: int = 0
    failure: Failure | None = None
    suspended_at: int = 0
    before: Status = "active"
    """What a suspended instance was."""
    past: tuple[tuple[bytes, int, dict[str, str]], ...] = ()
    """Definitions it was migrated from: hash, version, and the mapping that was used."""
    idempotency_key: str = ""
    spent: Spent | None = None
    """What its agents have used, in all attempts."""
    behind: tuple[str, ...] = ()
    """Who asked for it besides the principal."""
    overrides: tuple[Override, ...] = ()
    """Acts around its tasks: those that wait for somebody, and the latest that were done."""
    agreed: ConsequenceTier | Literal[""] = ""
    """The consequence that its start was agreed to for; empty of instances that began before it was kept."""
    carrier: str = ""
    """The engine that decides since it was moved; empty while it is the one it began on."""
    carrier_run: str = ""
    ledger: Ledger | None = None
    """What attempts of agents have reserved of its budget, and the bounds that somebody set."""

    def copy(self) -> Instance:
        return msgspec.structs.replace(
            self, nodes=dict(self.nodes), watches=dict(self.watches), flags=dict(self.flags), runs=dict(self.runs),
            written=dict(self.written),
        )  # fmt: skip


def job_key(letters: str, element: str, run: int) -> str:
    """The stable name of one execution of a service task: the idempotency key its handler sees."""
    return f"{letters}/{element}/{run}"
