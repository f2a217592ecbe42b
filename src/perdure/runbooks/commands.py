"""What may be asked of a runbook: imperative, complete, and without data (hashes only)."""

from __future__ import annotations

from typing import Literal

import msgspec

from perdure.contracts import RetryPolicy
from perdure.runbooks.state import Failure, Pin


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


class Fail(msgspec.Struct, frozen=True):
    """The attempt failed; the policy says whether another may follow."""

    failure: Failure
    policy: RetryPolicy
    after_seconds: float | None = None


AttemptOutcome = Done | Park | Fail


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


class Complete(msgspec.Struct, frozen=True):
    """What ends a wait: a result, a failure, or an expiry."""

    step: int
    token: int
    result: bytes | None = None
    failure: Failure | None = None
    is_expired: bool = False
    message_id: str = ""


class FireTimer(msgspec.Struct, frozen=True):
    """A timer is due. Firing twice is firing once."""

    step: int
    kind: str
    due: int
    worker: int = 0


class Cancel(msgspec.Struct, frozen=True):
    """Stop the call; nothing is compensated."""

    reason: str = ""


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


Command = (
    StartCall | LeaseJob | RecordAttempt | Complete | FireTimer | Cancel | PostProgress | RaiseIncident
    | RetryIncident | ResolveIncident | TellIncident | ProposeAmendment | ApproveAmendment | Erase
)  # fmt: skip
