"""The state of a conversation: where it is, what was asked last, and the draft it works on."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from perdure.app.entity_lookup import MatchView
from perdure.app.runbooks.views import RunbookView
from perdure.runbooks.drafts.draft import Draft, Entry
from perdure.runbooks.plan import Plan
from perdure.surfaces.repl.conversation_messages import TaskSeen
from perdure.verb_contract import ConsequenceTier

Mode = Literal["choosing", "in_pack", "clarifying", "playback", "editing", "executing"]


class AskPack(msgspec.Struct, frozen=True):
    """Which of these packs; `said` is what led here."""

    packs: tuple[str, ...]
    said: str = ""


class AskSwitch(msgspec.Struct, frozen=True):
    """Whether to go to the pack that what was said belongs to."""

    pack: str
    said: str


class AskContext(msgspec.Struct, frozen=True):
    name: str


class AskField(msgspec.Struct, frozen=True):
    """A question of the pack."""

    field: str


class AskVerb(msgspec.Struct, frozen=True):
    """Which of these verbs; one alone is asked with yes or no."""

    verbs: tuple[str, ...]
    said: str


class AskArgument(msgspec.Struct, frozen=True):
    """A value for an argument of an entry that is not in the plan yet, or of step `step` of the plan."""

    entry: Entry
    argument: str
    step: int = 0


class AskEntity(msgspec.Struct, frozen=True):
    """Which of these records is meant, for what was asked before."""

    before: AskField | AskArgument
    said: str
    matches: tuple[MatchView, ...] = ()


class AskSentence(msgspec.Struct, frozen=True):
    """Whether what was played back is right: entries still to be added, or those of the plan."""

    entries: tuple[Entry, ...] = ()
    verb: str = ""


class AskRun(msgspec.Struct, frozen=True):
    """Whether to run, by yes or by a phrase."""

    plan: Plan
    tier: ConsequenceTier
    phrase: str = ""
    mismatches: int = 0


class AskTask(msgspec.Struct, frozen=True):
    """A field of a task's form."""

    task: TaskSeen
    field: str
    data: dict[str, Any] = {}


class AskCancel(msgspec.Struct, frozen=True):
    """Whether to stop a run."""

    reason: str


Asked = (
    AskPack | AskSwitch | AskContext | AskField | AskVerb | AskArgument | AskEntity | AskSentence | AskRun | AskTask
    | AskCancel
)  # fmt: skip


class Session(msgspec.Struct, frozen=True):
    """Everything a conversation remembers."""

    mode: Mode = "choosing"
    draft: Draft = Draft()
    runbook: str = ""
    """The id under which the draft is kept, once it is."""
    asked: Asked | None = None
    rejected: dict[str, int] = {}
    """Verbs that were turned down, and for how many more turns."""
    run: RunbookView | None = None
    tasks: tuple[TaskSeen, ...] = ()
    """As they were listed last, so that a number names one."""
    open: tuple[str, ...] = ()
    """Ids of the runbooks listed last."""
    has_ended: bool = False

    @property
    def pack(self) -> str:
        return self.draft.pack.id if self.draft.pack is not None else ""
