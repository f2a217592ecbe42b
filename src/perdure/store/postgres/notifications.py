"""Notifications between processes: coalesced, and never inside a unit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
from psycopg import AsyncConnection

from perdure.errors import PerdureError
from perdure.store.postgres.connection import FIRST_DELAY, LAST_DELAY, pause

POLL_SECONDS = 1.0
"""A notification may be lost with the process that owed it: after so long it is worth looking anyway."""
QUIET_SECONDS = 0.02
LISTEN, NOTIFY = "LISTEN perdure", "NOTIFY perdure"
LISTEN_RESULTS = "LISTEN task_result_ready"
"""Of the trigger on the queue of task results: whoever inserts is not one of us, and announces nothing else."""


class Notifications:
    """Two connections: one listens, one notifies; both come back by themselves."""

    def __init__(self, connect: Callable[[], Awaitable[AsyncConnection[Any]]], closing: asyncio.Event) -> None:
        self._connect = connect
        self._closing = closing
        self._heard = asyncio.Event()
        self._owed = asyncio.Event()
        self._own = 0
        self._first: AsyncConnection[Any] | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Listen before anything can be missed."""
        self._first = listener = await self._listening()
        self._tasks = [
            asyncio.create_task(self._again(self._listen, listener)),
            asyncio.create_task(self._again(self._notify, None)),
        ]

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        if self._first is not None:  # a task that was cancelled before it ran has not closed it
            await self._first.close()
        self._heard.set()

    def announce(self) -> None:
        self._owed.set()

    async def changed(self, seconds: float) -> bool:
        """True on a notification of another process, or when it is time to look anyway."""
        try:
            async with asyncio.timeout(min(seconds, POLL_SECONDS)):
                await self._heard.wait()
        except TimeoutError:
            return seconds > POLL_SECONDS
        self._heard.clear()
        return not self._closing.is_set()

    async def _listening(self) -> AsyncConnection[Any]:
        connection = await self._connect()
        try:
            await connection.execute(LISTEN)
            await connection.execute(LISTEN_RESULTS)
        except BaseException:
            await connection.close()
            raise
        return connection

    async def _listen(self, connection: AsyncConnection[Any] | None) -> None:
        if connection is None:
            connection = await self._listening()
            self._heard.set()  # what was missed meanwhile is worth a look
        async with connection:
            async for notice in connection.notifies():
                if notice.pid != self._own:
                    self._heard.set()

    async def _notify(self, _: None) -> None:
        async with await self._connect() as connection:
            self._own = connection.info.backend_pid
            while True:
                await self._owed.wait()
                self._owed.clear()
                try:
                    await connection.execute(NOTIFY)
                except BaseException:
                    self._owed.set()
                    raise
                await asyncio.sleep(QUIET_SECONDS)

    async def _again(self, action: Callable[[Any], Awaitable[None]], first: Any) -> None:
        """Do it anew whenever its connection is lost."""
        delay = FIRST_DELAY
        while not self._closing.is_set():
            started = asyncio.get_running_loop().time()
            try:
                await action(first)
            except (psycopg.Error, OSError, PerdureError):
                first = None
            delay = (
                FIRST_DELAY if asyncio.get_running_loop().time() - started > LAST_DELAY else min(delay * 2, LAST_DELAY)
            )
            await pause(delay, self._closing)
