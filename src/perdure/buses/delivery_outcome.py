"""The decision about one delivery: its outcome, and what follows for a queue and for HTTP. All doors use it.

| outcome | meaning | a queue | HTTP |
|---|---|---|---|
| `counted` | committed just now | acknowledge | 202 |
| `known` | committed before | acknowledge | 200 |
| `over` | its task is over: nothing comes of it | acknowledge | 200 |
| `unknown` | there is no such task | park | 404 |
| `bad` | it cannot be read, or its cargo is none | park | 400 |
| `forbidden` | whoever brought it may not | park | 403 |
| `failed` | an error that another try may not meet | retry, then park | 500 |
| `away` | the store cannot be written now | pause | 503 |
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from perdure.errors import (
    FencedError,
    PayloadTooLargeError,
    PerdureError,
    RejectedError,
    SchemaViolationError,
    StoreFullError,
    StoreUnavailableError,
    TenantBusyError,
)

Outcome = Literal["counted", "known", "over", "unknown", "bad", "forbidden", "failed", "away"]
Act = Literal["acknowledge", "park", "retry", "pause"]
MAX_TRIES = 5
UNSEEN = 4
"""A delivery that came so many times `max_tries` and never ended is parked unread: it may be what kills consumers."""


class Meaning(NamedTuple):
    """What an outcome means to a queue and to HTTP."""

    act: Act
    status: int


TABLE: dict[Outcome, Meaning] = {
    "counted": Meaning("acknowledge", 202),
    "known": Meaning("acknowledge", 200),
    "over": Meaning("acknowledge", 200),
    "unknown": Meaning("park", 404),
    "bad": Meaning("park", 400),
    "forbidden": Meaning("park", 403),
    "failed": Meaning("retry", 500),
    "away": Meaning("pause", 503),
}
_REJECTED: dict[str, Outcome] = {"not_found": "unknown", "invalid": "bad", "forbidden": "forbidden"}


class Taken(msgspec.Struct, frozen=True):
    """The outcome of one delivery, with the reason where it did not count."""

    outcome: Outcome
    reason: str = ""


def decide(outcome: Outcome, tries: int, max_tries: int = MAX_TRIES) -> Act:
    """What a queue does with a delivery that had this outcome at this try."""
    act = TABLE[outcome].act
    return "park" if act == "retry" and tries >= max_tries else act


def outcome_of(error: PerdureError) -> Outcome:
    """The outcome that an error stands for."""
    if isinstance(error, RejectedError):
        return _REJECTED.get(error.rejection.code, "failed")
    if isinstance(error, SchemaViolationError | PayloadTooLargeError):
        return "bad"
    if isinstance(error, StoreUnavailableError | StoreFullError | TenantBusyError | FencedError):
        return "away"
    return "failed"
