"""Instance turns: of one process, who asks something of an instance goes on after whoever asked before."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary

from perdure.sources import SECOND, Id, Sources

LOOK = SECOND // 20
RACE_SECONDS = 10.0
"""How long something may be missing in Camunda, or here, before that counts as a difference and not as a race."""


class InstanceTurns:
    """One lock for each instance that somebody asks."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._locks: WeakValueDictionary[Id, asyncio.Lock] = WeakValueDictionary()

    def of(self, id: Id) -> asyncio.Lock:
        return self._locks.setdefault(id, asyncio.Lock())

    async def away(self, id: Id, pause: int) -> None:
        """Give the turn away for a pause: what Camunda tells of the instance meanwhile is appended."""
        lock = self.of(id)
        lock.release()
        try:
            await self._sources.sleep(pause)
        finally:
            await lock.acquire()
