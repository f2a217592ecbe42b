"""The keyed lock: calls that conflict over a record go on in single file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

import msgspec

TURN_SECONDS = 5.0
NO_TURN: AbstractAsyncContextManager[None] = nullcontext()
"""For whoever met nobody."""


class _Queue(msgspec.Struct):
    lock: asyncio.Lock
    waiting: int = 0


class KeyedLock:
    """Of one process. Nothing is wrong without a turn, only slower: the store's gate decides who wins."""

    def __init__(self) -> None:
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def at(self, place: str) -> AsyncIterator[None]:
        """Wait for a turn at a place, at most so long that a handler waiting for itself goes on."""
        queue = self._queues.setdefault(place, _Queue(asyncio.Lock()))
        queue.waiting += 1
        has_turn = False
        try:
            has_turn = await _acquired(queue.lock)
            yield
        finally:
            if has_turn:
                queue.lock.release()
            queue.waiting -= 1
            if not queue.waiting:
                del self._queues[place]


async def _acquired(lock: asyncio.Lock) -> bool:
    try:
        async with asyncio.timeout(TURN_SECONDS):
            return await lock.acquire()
    except TimeoutError:
        return False
