"""Where time, ids and chance come from: the only door to what is not deterministic."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Callable
from time import monotonic_ns, time_ns
from time import perf_counter as perf_counter
from time import thread_time as thread_time
from typing import Protocol

from perdure.identifiers import ID_LENGTH as ID_LENGTH
from perdure.identifiers import Id as Id
from perdure.identifiers import derive_id as derive_id
from perdure.identifiers import id_text as id_text
from perdure.identifiers import make_id as make_id
from perdure.identifiers import parse_id as parse_id
from perdure.identifiers import tail_of
from perdure.moments import SECOND as SECOND
from perdure.moments import Micros as Micros
from perdure.moments import iso as iso

IDS_AT_ONCE = 256
POLL: Micros = SECOND
"""How long nobody looks at the clock who waits for a moment: it may be set meanwhile."""

PATIENCE = 6
"""How much longer than its own work something may take on a busy machine."""


def effort_clock() -> Callable[[], Micros]:
    """A clock of what this thread has worked since, so that limits do not depend on who else is busy; it goes on, more
    slowly, while the thread waits."""
    began, worked = time.monotonic_ns(), time.thread_time_ns()

    def spent() -> Micros:
        passed = (time.monotonic_ns() - began) // PATIENCE
        return max(time.thread_time_ns() - worked, passed) // 1000

    return spent


class Sources(Protocol):
    """Clock, ids and randomness as machines and workers receive them."""

    is_test_clock: bool
    """Whether a test or a demonstration moves this clock: the store then judges by it instead of its own."""

    def now(self) -> Micros: ...
    def monotonic(self) -> Micros:
        """A clock that nobody sets: the difference of two readings is the time that has passed."""
        ...

    def new_id(self) -> Id: ...
    def random(self) -> float: ...
    async def sleep(self, duration: Micros) -> None:
        """For so long, by the monotonic clock."""
        ...

    async def sleep_until(self, due: Micros) -> None:
        """Until a moment of `now`, which is looked at again at every poll."""
        ...


class SystemSources:
    """The machine's clock, or the store's clock carried on by the machine's monotonic one; the system's randomness.

    | the store | `now` is |
    |---|---|
    | has no clock of its own (SQLite) | the machine's clock |
    | has one (Postgres) | the store's clock at the last reading, and what has passed since by the monotonic clock |
    """

    is_test_clock = False

    def __init__(self) -> None:
        self._store_ahead: Micros | None = None
        self._drawn: list[int] = []
        self._drawn_in = 0

    def now(self) -> Micros:
        if self._store_ahead is None:
            return time_ns() // 1000
        return monotonic_ns() // 1000 + self._store_ahead

    def wall(self) -> Micros:
        """The machine's clock, as it is set."""
        return time_ns() // 1000

    def monotonic(self) -> Micros:
        return monotonic_ns() // 1000

    @property
    def follows(self) -> bool:
        """Whether `now` is the store's clock."""
        return self._store_ahead is not None

    def follow(self, ahead: Micros) -> None:
        """Let `now` be so much ahead of the monotonic clock from now on."""
        self._store_ahead = ahead

    def new_id(self) -> Id:
        return Id((self.now() // 1000 << 80 | self._tail()).to_bytes(16, "big"))

    def _tail(self) -> int:
        """The chance in an id, drawn for many at once: asking the system for it stops the thread."""
        if self._drawn_in == os.getpid():  # a fork must not give out what its parent holds
            try:
                return self._drawn.pop()
            except IndexError:
                pass
        block = os.urandom(IDS_AT_ONCE * 10)
        drawn = [tail_of(block[at : at + 10]) for at in range(0, len(block), 10)]
        tail = drawn.pop()
        self._drawn, self._drawn_in = drawn, os.getpid()
        return tail

    random = staticmethod(random.random)

    async def sleep(self, duration: Micros) -> None:
        await asyncio.sleep(duration / SECOND)

    async def sleep_until(self, due: Micros) -> None:
        while (left := due - self.now()) > 0:
            await asyncio.sleep(min(left, POLL) / SECOND)


def fresh_secret(size: int = 32) -> bytes:
    """Chance that nobody can foresee, for keys and what is signed with them: no clock and no seed gives it again."""
    return os.urandom(size)
