"""What can have happened to a runbook: past tense, tagged by number, never changed once shipped."""

from __future__ import annotations

from typing import Literal

import msgspec

from perdure.runbooks.state import Compact, Failure, Flags
from perdure.sources import iso

ENTRY_VERSION = 2
TIMES = frozenset({"at", "due", "retry_at"})


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


class AttemptStarted(Compact, frozen=True, tag=2):
    step: int
    attempt: int
    at: int
    worker: int
    interruptions: int = 0


class AttemptFailed(Compact, frozen=True, tag=3):
    step: int
    attempt: int
    at: int
    failure: Failure
    retry_at: int = 0


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


class AmendmentApproved(Compact, frozen=True, tag=18):
    number: int
    by: str
    at: int


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


Entry = (
    CallStarted | AttemptStarted | AttemptFailed | AttemptDiscarded | StepCompleted | StepFailed | StepParked
    | CompletionReceived | CompletionIgnored | TimedOut | Escalated | IncidentRaised | IncidentResolved
    | CancelRequested | CallCancelled | ProgressPosted | AmendmentProposed | AmendmentApproved | PayloadErased
    | StepReady | ProcessAsked | IncidentCreated | IncidentClosed
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
    return value
