"""Answers already given: a request that comes again under its key is told the same."""

from __future__ import annotations

from perdure.app.runtime import Runtime
from perdure.journal import Origin
from perdure.work.ports import Answered


class AnswerDesk:
    """Of one principal. Reached as `perdure.answers`; an answer is kept for a day."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._runtime = runtime
        self._book = runtime.store.answers
        self._origin = origin

    async def find(self, key: str) -> Answered | None:
        """What was answered under a key; `request` tells whether the same was asked."""
        return await self._book.find(self._origin.tenant, self._origin.principal, key)

    async def keep(self, key: str, request: bytes, status: int, body: bytes) -> Answered:
        """Remember an answer. What comes back is the one that stands: the first under its key."""
        answered = Answered(request, status, body, self._runtime.sources.now())
        return await self._book.keep(self._origin.tenant, self._origin.principal, key, answered)
