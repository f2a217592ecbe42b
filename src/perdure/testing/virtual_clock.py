"""A virtual clock with seeded ids and chance: the same seed gives the same run, to the byte."""

from __future__ import annotations

import asyncio
import heapq
import random
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from perdure.sources import Id, Micros, SystemSources, make_id

START: Micros = 1_767_225_600_000_000
"""The first of January 2026, so that runs can be compared."""


class VirtualSources:
    """Time stands still until it is moved."""

    is_test_clock = True

    def __init__(self, seed: int = 0, start: Micros = START) -> None:
        self._now = start
        self._random = random.Random(seed)
        self._sleepers: list[tuple[Micros, int, asyncio.Future[None], asyncio.Task[Any]]] = []
        self._order = count()
        self.asleep: dict[asyncio.Task[Any], None] = {}
        """Tasks that wait for this clock: nothing else will wake them."""
        self._drowsy = asyncio.Event()

    def now(self) -> Micros:
        return self._now

    def monotonic(self) -> Micros:
        return self._now

    def new_id(self) -> Id:
        return make_id(self._now, self._random.randbytes(10))

    def random(self) -> float:
        return self._random.random()

    async def sleep(self, duration: Micros) -> None:
        await self.sleep_until(self._now + duration)

    async def sleep_until(self, due: Micros) -> None:
        if due <= self._now:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.current_task()
        assert task is not None
        heapq.heappush(self._sleepers, (due, next(self._order), future, task))
        self.asleep[task] = None
        self._drowsy.set()
        try:
            await future
        finally:
            self.asleep.pop(task, None)

    def next_wake(self) -> Micros | None:
        """When the first of those who sleep wakes up."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else None

    async def until_asleep(self, tasks: Callable[[], Iterable[asyncio.Future[Any]]]) -> None:
        """Until each of the tasks there are has ended or sleeps."""
        while busy := [task for task in tasks() if task not in self.asleep]:
            self._drowsy.clear()
            dozing = asyncio.ensure_future(self._drowsy.wait())
            try:
                await asyncio.wait({*busy, dozing}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                dozing.cancel()
            await asyncio.gather(dozing, return_exceptions=True)

    def move_to(self, at: Micros) -> None:
        """Set the clock, waking whoever slept until then; it may also be set back."""
        self._now = at
        while self._sleepers and self._sleepers[0][0] <= at:
            _, _, future, task = heapq.heappop(self._sleepers)
            if not future.done():
                self.asleep.pop(task, None)  # awake from now on, though it has not run yet
                future.set_result(None)


class AheadSources(SystemSources):
    """The system's clock, ahead of it by a fixed span: what runs on it lives next week already."""

    is_test_clock = True

    def __init__(self, ahead: Micros) -> None:
        super().__init__()
        self._ahead = ahead

    def now(self) -> Micros:
        return super().now() + self._ahead
