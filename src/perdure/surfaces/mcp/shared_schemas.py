"""Shapes that several tools share: what is asked in the same words, what waits, what failed."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from perdure.app.calls.views import ErrorView, WaitingFor
from perdure.surfaces.mcp.answer_truncation import LONG_TEXT, short

Limit = Annotated[int, Meta(description="At most so many.", ge=1, le=100)]
Id = Annotated[str, Meta(description="The id of a runbook, a call or a process instance.", max_length=80)]
RunbookId = Annotated[str, Meta(description="The runbook's id.", max_length=80)]
TaskKey = Annotated[str, Meta(description="'key' of pending_work, such as '<id>:3'.", max_length=400)]
Reason = Annotated[str, Meta(description="Why, in a sentence; it is kept in the journal.", max_length=2000)]
IdempotencyKey = Annotated[
    str, Meta(description="Your own name for this request; under one key it happens once.", max_length=200)
]
MessageId = Annotated[
    str, Meta(description="Your own name for this message; sent twice under it, it counts once.", max_length=200)
]
WaitSeconds = Annotated[
    float, Meta(description="Wait so long for it to go on before answering; it goes on without you.", ge=0, le=50)
]
Agreement = Annotated[
    str, Meta(description="Only for a person: the plan_hash they agreed to. An agent's is not taken.", max_length=200)
]
Phrase = Annotated[str, Meta(description="Only for a person: the phrase that the plan asks for.", max_length=200)]
REST_SECONDS = 20.0
"""How long an answer waits for something to come to rest that was just set going."""
ASK_A_PERSON = (
    "Nothing was started. Show the person the sentences and ask them to start the draft "
    "(`perdure repl`, the dashboard or the API); do not ask again yourself."
)


class Wait(msgspec.Struct, frozen=True, omit_defaults=True):
    """What something waits for. `kind`: completion, task, gate, process, escalation, retry, incident, message, …"""

    kind: str
    key: str = ""
    by: str = ""
    """The verb, group or message that would end it."""
    text: str = ""
    since: str = ""
    due_at: str = ""
    step: str = ""


class Failed(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why something failed."""

    code: str
    message: str
    failure_class: str = ""
    step: str = ""


def waiting(found: WaitingFor | None, step: str = "") -> Wait | None:
    if found is None:
        return None
    text = short(found.text or found.code)
    return Wait(found.kind, found.key, found.verb, text, found.since or "", found.due_at or "", step)


def failed(found: ErrorView | None, step: str = "") -> Failed | None:
    return Failed(found.code, short(found.message, LONG_TEXT), found.failure_class, step) if found is not None else None
