"""A virtual clock with seeded ids and chance: the same seed gives the same run, to the byte."""

from __future__ import annotations

import asyncio
import heapq
import random
from itertools import count

from perdure.sources import Id, Micros, make_id

START: Micros = 1_767_225_600_000_000
"""The first of January 2026, so that runs can be compared."""


class VirtualSources:
    """Time stands still until it is moved."""

    def __init__(self, seed: int = 0, start: Micros = START) -> None:
        self._now = start
        self._random = random.Random(seed)
        self._sleepers: list[tuple[Micros, int, asyncio.Future[None]]] = []
        self._order = count()

    def now(self) -> Micros:
        return self._now

    def new_id(self) -> Id:
        return make_id(self._now, self._random.randbytes(10))

    def random(self) -> float:
        return self._random.random()

    async def sleep_until(self, due: Micros) -> None:
        if due <= self._now:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (due, next(self._order), future))
        await future

    def move_to(self, at: Micros) -> None:
        """Set the clock, waking whoever slept until then; it may also be set back."""
        self._now = at
        while self._sleepers and self._sleepers[0][0] <= at:
            future = heapq.heappop(self._sleepers)[2]
            if not future.done():
                future.set_result(None)
