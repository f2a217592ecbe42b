"""Rows of lists: runbooks, instances, parked calls, incidents and dead letters."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.app.calls.views import WaitingFor
from perdure.runbooks.ports import DeadLetter
from perdure.sources import iso


class RunbookRow(msgspec.Struct, frozen=True):
    """A runbook, a draft or a call in a list. `state` is `quarantined` where its stored bytes cannot be trusted.

    `verb` is that of a call and empty of a plan. `done` of `steps` are complete; `waiting` says for what, in words.
    """

    id: str
    state: str
    case: str = ""
    title: str = ""
    progress: str = ""
    verb: str = ""
    steps: int = 0
    done: int = 0
    waiting: list[str] = []
    started_at: str | None = None
    ended_at: str | None = None
    principal: str = ""
    sequence: int = 0
    incidents: int = 0


class InstanceRow(msgspec.Struct, frozen=True):
    """An instance in a list. `parent` names the step or the instance that began it."""

    id: str
    state: str
    process: str = ""
    version: int = 0
    progress: str = ""
    business_key: str = ""
    waiting: list[str] = []
    incidents: int = 0
    started_at: str | None = None
    ended_at: str | None = None
    parent: str = ""
    principal: str = ""
    sequence: int = 0


class ParkedItem(msgspec.Struct, frozen=True):
    """A wait of a call or of a step of a runbook. `key` ends it."""

    key: str
    id: str
    step: int
    verb: str
    state: str
    title: str = ""
    case: str = ""
    waiting_for: WaitingFor | None = None


class ActionView(msgspec.Struct, frozen=True):
    """Something that applies: what it is called, the operation it asks for, and where it is posted."""

    act: str
    title: str
    operation: str
    path: str


class StuckView(msgspec.Struct, frozen=True):
    """An incident, its cause and the actions that apply to it. `id` is the call, runbook or instance it is in.

    `concerns` is the one it stops, `place` the number of the step, or of the token of an instance, and `name` its verb
    or element.
    """

    id: str
    kind: str
    place: int
    code: str
    since: str | None
    text: str = ""
    name: str = ""
    title: str = ""
    concerns: str = ""
    state: str = ""
    cause: str = ""
    verbs: list[str] = []
    actions: list[ActionView] = []


class DeadLetterItem(msgspec.Struct, frozen=True):
    """What arrived and could not be delivered."""

    message_id: str
    kind: str
    key: str
    received_at: str | None
    reason: str
    message: Any = None


def dead_letter(letter: DeadLetter) -> DeadLetterItem:
    reason, body = letter.answer, None
    try:
        body = msgspec.json.decode(letter.body) if letter.body else None
    except (ValueError, RecursionError) as error:
        reason = f"{reason}; its bytes can no longer be read ({error})"  # one damaged letter hides no other
    return DeadLetterItem(letter.message_id, letter.kind, letter.key, iso(letter.received_at), reason, body)
