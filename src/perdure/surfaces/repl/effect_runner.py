"""Carries out what a conversation wishes, one after another, and tells it what came of each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import assert_never

from perdure.errors import PerdureError
from perdure.surfaces.repl.conversation_machine import learn
from perdure.surfaces.repl.conversation_messages import (
    AnswerTask,
    ClaimTask,
    DecideDocument,
    Follow,
    Found,
    Leave,
    ListDocuments,
    Listed,
    ListEngines,
    ListEvents,
    ListIncidents,
    ListLetters,
    ListLifecycles,
    ListOpen,
    ListTasks,
    Load,
    Look,
    Looked,
    LookUp,
    Moved,
    News,
    OpenListed,
    Redo,
    Redrawn,
    Refused,
    ResolveBlocker,
    Rested,
    Save,
    Saved,
    Saying,
    ShowDocument,
    ShowImpact,
    ShowLifecycle,
    Start,
    Steer,
    TasksListed,
    Told,
    TransitLifecycle,
    Undo,
    Wish,
)
from perdure.surfaces.repl.conversation_state import Session
from perdure.surfaces.repl.platform_adapter import Kept, PlatformAdapter
from perdure.surfaces.repl.turn import Knowledge, Turn

MAX_WISHES = 1000


class EffectRunner:
    """One conversation with a desk behind it; `out` shows what is said as soon as it is."""

    def __init__(self, desk: PlatformAdapter, knowledge: Knowledge, out: Callable[[Saying], None]) -> None:
        self._desk = desk
        self._knowledge = knowledge
        self._out = out
        self.session = Session()

    async def take(self, turn: Turn) -> None:
        """Say what a turn says, do what it wishes, and let the conversation learn of it until it wishes no more."""
        waiting = self._said(turn)
        for _ in range(MAX_WISHES):
            if not waiting:
                return
            wish = waiting.pop(0)
            new: list[Wish] = []
            is_refused = False
            try:
                async for news in self._news(wish):
                    new += self._said(learn(self.session, news, self._knowledge))
            except PerdureError as error:
                is_refused = True
                new += self._said(learn(self.session, Refused(str(error)), self._knowledge))
            # What was to follow makes no sense when this did not happen.
            waiting = new if is_refused else new + waiting

    def _said(self, turn: Turn) -> list[Wish]:
        self.session = turn.session
        for saying in turn.says:
            self._out(saying)
        return list(turn.wishes)

    async def _news(self, wish: Wish) -> AsyncIterator[News]:  # noqa: PLR0912  one case per kind of wish
        desk, id = self._desk, self.session.runbook
        match wish:
            case Save(draft, text):
                yield Saved(await desk.save(id, draft, text))
            case Undo():
                yield _redrawn(await desk.undo(id), "Undone")
            case Redo():
                yield _redrawn(await desk.redo(id), "Made again")
            case Load(named):
                async for news in self._loaded(await desk.load(named)):
                    yield news
            case ListOpen():
                yield OpenListed(tuple(await desk.open()))
            case LookUp(entity, text):
                yield Found(tuple(await desk.look_up(entity, text)))
            case Start(plan):
                yield Moved(await desk.start(id, plan))
            case Follow(waits):
                async for news in self._followed(waits):
                    yield news
            case Look():
                yield Looked(await desk.look(id))
            case Steer():
                await self._steered(wish)
                yield Told({"cancel": "Stopped.", "retry": "Tried again.", "skip": "Skipped."}[wish.act], True)
            case ListTasks():
                yield TasksListed(tuple(await desk.tasks(id if self.session.run is not None else "")))
            case ClaimTask(key):
                task = await desk.claim(key)
                yield Told(f"'{task.title}' is yours now.")
            case AnswerTask(key, data, seen):
                await desk.answer(key, data, seen)
                yield Told("Answered.", True)
            case ListEvents():
                yield Listed(await desk.events(id))
            case ListIncidents():
                yield Listed(await desk.incidents())
            case ListEngines():
                yield Listed(await desk.engines())
            case ShowImpact(file):
                yield Listed(await desk.impact(file))
            case ListLetters():
                yield Listed(await desk.letters())
            case (
                ListLifecycles() | ShowLifecycle() | ResolveBlocker() | TransitLifecycle() | ListDocuments()
                | ShowDocument() | DecideDocument()
            ):  # fmt: skip
                yield await desk.papers.answer(wish)
            case Leave():
                return
            case _:
                assert_never(wish)

    async def _loaded(self, kept: Kept) -> AsyncIterator[News]:
        if kept.run is None:
            yield Redrawn(kept.draft, f"Back in runbook {kept.id}.", kept.id)
        else:
            tasks = tuple(await self._desk.tasks(kept.id)) if not kept.run.is_ended else ()
            yield Rested(kept.run, tasks, kept.draft)

    async def _followed(self, waits: bool) -> AsyncIterator[News]:
        id = self.session.runbook
        last = None
        async for run in self._desk.follow(id, waits):
            last = run
            yield Moved(run)
        run = last or await self._desk.look(id)
        yield Rested(run, () if run.is_ended else tuple(await self._desk.tasks(id)))

    async def _steered(self, wish: Steer) -> None:
        id = self.session.runbook
        match wish.act:
            case "cancel":
                await self._desk.cancel(id, wish.reason)
            case "retry":
                await self._desk.retry(id, wish.step)
            case "skip":
                await self._desk.skip(id, wish.step, wish.reason or "skipped in the conversation")
            case _:
                assert_never(wish.act)


def _redrawn(kept: Kept, word: str) -> Redrawn:
    return Redrawn(kept.draft, f"{word}: {kept.text}." if kept.text else f"{word}.")
