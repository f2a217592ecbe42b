"""What the parameters of routes mean, in one place: their bounds, and their words in the description."""

from __future__ import annotations

from typing import Annotated

from litestar.params import Parameter, QueryParameter

MAX_TEXT = 500
BIGGEST = 2**53 - 1

Name = Annotated[str, Parameter(max_length=MAX_TEXT, description="A name.")]
Id = Annotated[str, Parameter(max_length=MAX_TEXT, description="An id: 26 letters.")]
Query = Annotated[str, Parameter(max_length=MAX_TEXT, description="Words to look for.")]
Word = Annotated[str, Parameter(max_length=MAX_TEXT)]
Long = Annotated[str, Parameter(max_length=4000)]
Version = Annotated[int | None, Parameter(ge=1, le=BIGGEST, description="A version, else the newest.")]
Whole = Annotated[
    bool,
    Parameter(description="Each as if it were read alone, without its steps or data; `after` is the id of the last."),
]
Limit = Annotated[int, Parameter(ge=1, le=200, description="How many items a page holds at most.")]
After = Annotated[str | None, Parameter(max_length=2000, description="The `next` of the page before.")]
Sequence = Annotated[int | None, Parameter(ge=1, le=BIGGEST, description="A record of its journal, else now.")]
Step = Annotated[str, Parameter(max_length=MAX_TEXT, description="A step's name or number.")]
InState = Annotated[str, QueryParameter(name="state", max_length=MAX_TEXT, description="Only in this state.")]
"""Litestar keeps the name `state` for itself: a handler calls it `in_state`."""
