"""Version locks: one lock for each subject that a caller changes in the version they looked at."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Guards:
    """The locks of one process: a version that was compared still holds while its lock is held."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def of(self, id: str) -> AsyncIterator[None]:
        lock, waiting = self._locks.get(id) or (asyncio.Lock(), 0)
        self._locks[id] = (lock, waiting + 1)
        try:
            async with lock:
                yield
        finally:
            lock, waiting = self._locks[id]
            if waiting > 1:
                self._locks[id] = (lock, waiting - 1)
            else:
                del self._locks[id]
