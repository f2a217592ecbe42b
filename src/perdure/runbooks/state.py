"""What a runbook is at one moment: small frozen values, encoded as arrays."""

from __future__ import annotations

from typing import Literal

import msgspec

from perdure.contracts import FailureClass

STATE_VERSION = 2

StepState = Literal["pending", "ready", "running", "parked", "completed", "failed", "cancelled"]
RunbookState = Literal["ready", "executing", "parked", "completed", "failed", "escalated", "cancelled"]
Flags = dict[str, str | bool | int]
ENDED: frozenset[str] = frozenset({"completed", "failed", "cancelled"})

WAITING, RESOLVED, TIMED_OUT, CANCELLED = range(4)
TOKEN_STATES = ("waiting", "resolved", "timed_out", "cancelled")


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


class Token(Compact, frozen=True):
    """Something waiting. An empty key stands for the step's own id."""

    name: str
    key: str
    status: int
    parked_at: int
    due: int = 0
    escalation: str = ""
    escalates: bool = False


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


class Pin(Compact, frozen=True):
    """The process that carries a step, pinned when the step was asked for."""

    process: str
    version: int
    definition: bytes


class Step(Compact, frozen=True):
    """One asking of one verb, pinned to the definition it was asked under."""

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


class Runbook(Compact, frozen=True):
    """The aggregate. Fields a row carries besides (id, tenant, version) are not repeated here."""

    version: int
    status: RunbookState
    started_at: int
    principal: str
    trace: str
    steps: tuple[Step, ...]
    ended_at: int = 0
    parent: str = ""
    amendments: tuple[Amendment, ...] = ()
    erased_at: int = 0
    idempotency_key: str = ""


def short(definition: bytes) -> int:
    """The first eight bytes of a definition's hash as a signed number, for index rows."""
    return int.from_bytes(definition[:8], "big", signed=True)


def step_id(id_letters: str, step: int) -> str:
    """The stable name of a step: the default correlation and idempotency key."""
    return f"{id_letters}:{step}"
