"""Messages of a conversation: sayings to a person, wishes to the platform and news from it."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import msgspec

from perdure.app.entity_lookup import MatchView
from perdure.app.runbooks.views import RunbookView
from perdure.runbooks.drafts.draft import Draft
from perdure.runbooks.plan import Plan

Tone = Literal["plain", "good", "warning", "bad", "quiet", "title"]


# --- what is said -----------------------------------------------------------------------------------------------------


class Say(msgspec.Struct, frozen=True):
    """One remark."""

    text: str
    tone: Tone = "plain"


class Ask(msgspec.Struct, frozen=True):
    """A question; options are numbered so that a number answers it."""

    text: str
    options: tuple[str, ...] = ()
    default: str = ""


class Sentence(NamedTuple):
    """One step as people read it."""

    number: int
    text: str
    state: str
    note: str = ""


class Playback(msgspec.Struct, frozen=True):
    """Steps in their chapters."""

    title: str
    chapters: tuple[tuple[str, tuple[Sentence, ...]], ...]


class Rows(msgspec.Struct, frozen=True):
    """A small table."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    empty: str = "Nothing."


class Code(msgspec.Struct, frozen=True):
    """Text shown letter by letter."""

    text: str


Saying = Say | Ask | Playback | Rows | Code


# --- what is seen of the platform -------------------------------------------------------------------------------------


class TaskSeen(msgspec.Struct, frozen=True):
    """Something that waits for a person."""

    key: str
    title: str
    state: str = "open"
    who: str = ""
    groups: str = ""
    due: str = ""
    form: dict[str, Any] = {}
    runbook: str = ""
    is_gate: bool = False
    is_decision: bool = False
    """The wait of a decision verb, which is nobody's task."""
    known: dict[str, Any] = {}
    """Fields that the process gives by itself: told, never asked."""
    seen: str = ""
    link: str = ""
    """The task in the external task list."""


class OpenSeen(msgspec.Struct, frozen=True):
    """A runbook one may come back to."""

    id: str
    state: str
    title: str
    since: str = ""


# --- what is wished ---------------------------------------------------------------------------------------------------


class Save(msgspec.Struct, frozen=True):
    draft: Draft
    text: str


class Undo(msgspec.Struct, frozen=True):
    pass


class Redo(msgspec.Struct, frozen=True):
    pass


class Load(msgspec.Struct, frozen=True):
    id: str


class ListOpen(msgspec.Struct, frozen=True):
    pass


class LookUp(msgspec.Struct, frozen=True):
    entity: str
    text: str


class Start(msgspec.Struct, frozen=True):
    plan: Plan


class Follow(msgspec.Struct, frozen=True):
    """Until it rests: everything still to do waits for someone or something.

    With `waits`, one that rests already is watched until something comes for it.
    """

    waits: bool = False


class Look(msgspec.Struct, frozen=True):
    """How the runbook is now."""


class Steer(msgspec.Struct, frozen=True):
    """Cancel the runbook, or retry or skip one of its steps."""

    act: Literal["cancel", "retry", "skip"]
    step: str = ""
    reason: str = ""


class ListTasks(msgspec.Struct, frozen=True):
    pass


class ClaimTask(msgspec.Struct, frozen=True):
    key: str


class AnswerTask(msgspec.Struct, frozen=True):
    key: str
    data: dict[str, Any]
    seen: str = ""
    """What the task showed, by hashes."""


class ListEvents(msgspec.Struct, frozen=True):
    pass


class ListIncidents(msgspec.Struct, frozen=True):
    pass


class ListEngines(msgspec.Struct, frozen=True):
    pass


class ShowImpact(msgspec.Struct, frozen=True):
    """Of a model file, or of the latest versions."""

    file: str


class ListLetters(msgspec.Struct, frozen=True):
    pass


class ListLifecycles(msgspec.Struct, frozen=True):
    lifecycle: str = ""


class ShowLifecycle(msgspec.Struct, frozen=True):
    """A lifecycle instance, by its number in the list or its id."""

    id: str


class ResolveBlocker(msgspec.Struct, frozen=True):
    id: str
    key: str


class TransitLifecycle(msgspec.Struct, frozen=True):
    id: str
    target: str
    reason: str = ""


class ListDocuments(msgspec.Struct, frozen=True):
    text: str = ""


class ShowDocument(msgspec.Struct, frozen=True):
    """A document, by its number in the list or its id."""

    id: str


class DecideDocument(msgspec.Struct, frozen=True):
    """Verify a version; with a reason, reject it."""

    id: str
    version: int
    reason: str = ""
    note: str = ""


Papers = (
    ListLifecycles | ShowLifecycle | ResolveBlocker | TransitLifecycle | ListDocuments | ShowDocument | DecideDocument
)


class Leave(msgspec.Struct, frozen=True):
    pass


Wish = (
    Save | Undo | Redo | Load | ListOpen | LookUp | Start | Follow | Look | Steer | ListTasks | ClaimTask | AnswerTask
    | ListEvents | ListIncidents | ListEngines | ShowImpact | ListLetters | Papers | Leave
)  # fmt: skip


# --- what is heard ----------------------------------------------------------------------------------------------------


class Saved(msgspec.Struct, frozen=True):
    id: str


class Redrawn(msgspec.Struct, frozen=True):
    """The draft is another now: undone, redone or loaded."""

    draft: Draft
    text: str
    id: str = ""


class Found(msgspec.Struct, frozen=True):
    matches: tuple[MatchView, ...]


class Moved(msgspec.Struct, frozen=True):
    """The runbook went on."""

    run: RunbookView


class Rested(msgspec.Struct, frozen=True):
    """Nothing goes on by itself any more, or it has ended."""

    run: RunbookView
    tasks: tuple[TaskSeen, ...] = ()
    draft: Draft | None = None


class Looked(msgspec.Struct, frozen=True):
    run: RunbookView


class OpenListed(msgspec.Struct, frozen=True):
    runbooks: tuple[OpenSeen, ...]


class TasksListed(msgspec.Struct, frozen=True):
    tasks: tuple[TaskSeen, ...]


class Listed(msgspec.Struct, frozen=True):
    """A table to be shown as it is."""

    table: Rows


class Told(msgspec.Struct, frozen=True):
    """Something was done."""

    text: str
    follow: bool = False


class Refused(msgspec.Struct, frozen=True):
    """Something was not done, and why."""

    text: str


News = Saved | Redrawn | Found | Moved | Rested | Looked | OpenListed | TasksListed | Listed | Told | Refused
