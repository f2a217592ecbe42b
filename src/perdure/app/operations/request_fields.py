"""Fields that several requests share: their bounds and their descriptions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from perdure.app.operations.operation import Request

MAX_TEXT = 500
BIGGEST = 2**53 - 1
MAX_WAIT_SECONDS = 60.0
"""How long a request may wait for an end: never so long that those between give up."""
LONGEST_LOOK_SECONDS = 30.0

Flags = dict[str, str | bool | int]
Data = dict[str, Any]
Positive = Annotated[int, Meta(ge=1, le=BIGGEST)]
Cursor = Annotated[str, Meta(max_length=2000)]
Name = Annotated[str, Meta(max_length=MAX_TEXT, description="A name.")]
Id = Annotated[str, Meta(max_length=MAX_TEXT, description="An id: 26 letters.")]
Query = Annotated[str, Meta(max_length=MAX_TEXT, description="Words to look for.")]
Word = Annotated[str, Meta(max_length=MAX_TEXT)]
Version = Annotated[Positive | None, Meta(description="A version; default: the latest.")]
Number = Annotated[int, Meta(ge=1, le=BIGGEST, description="A version.")]
Whole = Annotated[
    bool,
    Meta(description="Each as if it were read alone, without its steps or data; `after` is the id of the last."),
]
Limit = Annotated[int, Meta(ge=1, le=200, description="How many items a page holds at most.")]
After = Annotated[Cursor | None, Meta(description="The `next` of the page before.")]
Sequence = Annotated[Positive | None, Meta(description="A record of its journal; default: now.")]
Step = Annotated[str, Meta(max_length=MAX_TEXT, description="A step's name or number.")]
State = Annotated[str, Meta(max_length=MAX_TEXT, description="Only in this state.")]
TaskKey = Annotated[str, Meta(max_length=MAX_TEXT, description="A task's key: `<instance>:<token>`.")]
Seen = Annotated[
    str,
    Meta(max_length=MAX_TEXT, description="The `seen` of the task that was answered; refused if it has changed."),
]
WaitKey = Annotated[str, Meta(description="The key of a wait.")]
MessageId = Annotated[str, Meta(description="The id of the message.")]
Goal = Annotated[
    Literal["", "rest", "end"],
    Meta(description="Answer when it has ended, or has gone as far as it goes by itself; else at once."),
]
Patience = Annotated[float, Meta(ge=0, le=LONGEST_LOOK_SECONDS, description="How long to wait for that, in seconds.")]


class Paged(Request, frozen=True):
    """A page of a list."""

    limit: Limit = 50
    after: After = None


class ById(Request, frozen=True):
    """A call, a runbook, a draft or an instance."""

    id: Id


class Nothing(Request, frozen=True):
    """A request that leaves nothing open."""


def waited(seconds: float | None) -> float:
    """The seconds that a request waits for an end."""
    return MAX_WAIT_SECONDS if seconds is None else min(max(seconds, 0.0), MAX_WAIT_SECONDS)
