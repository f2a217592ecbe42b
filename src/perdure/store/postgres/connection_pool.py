"""A few connections shared by reads and small writes, opened when needed and replaced when lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg

from perdure.store.postgres.connection import closed, patiently
from perdure.store.postgres.pipeline import Pipeline, Request

LINES = 4
Connect = Callable[[], Awaitable[Pipeline]]


class ConnectionPool:
    """At most `LINES` round trips at once; the others wait their turn."""

    def __init__(self, connect: Connect, place: str, closing: asyncio.Event, patience_seconds: float) -> None:
        self._connect = connect
        self._place = place
        self._closing = closing
        self._patience_seconds = patience_seconds
        self._free = asyncio.Semaphore(LINES)
        self._idle: list[Pipeline] = []

    async def turn(self, requests: list[Request]) -> list[list[tuple[Any, ...]]]:
        """One round trip, on another connection where one was lost."""
        return await patiently(lambda: self._turn(requests), self._place, self._closing, self._patience_seconds)

    async def _turn(self, requests: list[Request]) -> list[list[tuple[Any, ...]]]:
        async with self._free:
            if self._closing.is_set():
                raise closed(self._place)
            wire = self._idle.pop() if self._idle else await self._connect()
            try:
                return await wire.turn(requests)
            except psycopg.Error:
                # It may be left inside a failed transaction.
                wire.is_broken = True
                raise
            finally:
                if wire.is_broken or self._closing.is_set():
                    await wire.close()
                else:
                    self._idle.append(wire)

    async def close(self) -> None:
        for _ in range(LINES):
            await self._free.acquire()
        for wire in self._idle:
            await wire.close()
        self._idle = []
        for _ in range(LINES):
            self._free.release()
