"""Ports of a conversation: the calls it needs of the platform."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple, Protocol

from perdure.runbooks.drafts.draft import Draft
from perdure.runbooks.plan import Plan
from perdure.surfaces.repl.dialogue import Match, OpenSeen, Rows, RunSeen, TaskSeen


class Kept(NamedTuple):
    """A draft as it is kept; `run` is there once it was started."""

    id: str
    draft: Draft
    text: str = ""
    run: RunSeen | None = None


class Platform(Protocol):
    """Drafts that outlast the conversation, runs, people's tasks and records. Refusals are PerdureErrors."""

    async def save(self, id: str, draft: Draft, text: str) -> str:
        """Keep a revision; without an id, the first. Returns the id."""
        ...

    async def undo(self, id: str) -> Kept: ...

    async def redo(self, id: str) -> Kept: ...

    async def load(self, id: str) -> Kept: ...

    async def open(self) -> Sequence[OpenSeen]:
        """Runbooks one may come back to, newest first."""
        ...

    async def start(self, id: str, plan: Plan) -> RunSeen: ...

    def follow(self, id: str, waits: bool) -> AsyncIterator[RunSeen]:
        """The run each time it came further, until it rests; with `waits`, not before something has come."""
        ...

    async def look(self, id: str) -> RunSeen: ...

    async def cancel(self, id: str, reason: str) -> None: ...

    async def retry(self, id: str, step: str) -> None: ...

    async def skip(self, id: str, step: str, reason: str) -> None: ...

    async def tasks(self, runbook: str = "") -> Sequence[TaskSeen]: ...

    async def claim(self, key: str) -> TaskSeen: ...

    async def answer(self, key: str, data: dict[str, Any]) -> None: ...

    async def incidents(self) -> Rows: ...

    async def letters(self) -> Rows: ...

    async def look_up(self, entity: str, text: str) -> Sequence[Match]: ...
