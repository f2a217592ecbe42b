"""Where time, ids and chance come from: the only door to what is not deterministic."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Callable
from time import perf_counter as perf_counter
from time import thread_time as thread_time
from time import time_ns
from typing import Protocol

from perdure.identifiers import ID_LENGTH as ID_LENGTH
from perdure.identifiers import Id as Id
from perdure.identifiers import derive_id as derive_id
from perdure.identifiers import id_text as id_text
from perdure.identifiers import make_id as make_id
from perdure.identifiers import parse_id as parse_id
from perdure.moments import SECOND as SECOND
from perdure.moments import Micros as Micros
from perdure.moments import iso as iso

IDS_AT_ONCE = 256

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

    def now(self) -> Micros: ...
    def new_id(self) -> Id: ...
    def random(self) -> float: ...
    async def sleep_until(self, due: Micros) -> None: ...


class SystemSources:
    """The machine's clock shifted to the store's clock, and the system's randomness."""

    def __init__(self) -> None:
        self.offset: Micros = 0
        self._drawn: list[bytes] = []
        self._drawn_in = 0

    def now(self) -> Micros:
        return time_ns() // 1000 + self.offset

    def new_id(self) -> Id:
        return make_id(self.now(), self._chance())

    def _chance(self) -> bytes:
        """Ten bytes of the system's randomness, drawn for many ids at once: asking for it stops the thread."""
        if self._drawn_in == os.getpid():  # a fork must not give out what its parent holds
            try:
                return self._drawn.pop()
            except IndexError:
                pass
        block = os.urandom(IDS_AT_ONCE * 10)
        drawn = [block[at : at + 10] for at in range(0, len(block), 10)]
        chance = drawn.pop()
        self._drawn, self._drawn_in = drawn, os.getpid()
        return chance

    random = staticmethod(random.random)

    async def sleep_until(self, due: Micros) -> None:
        while (left := due - self.now()) > 0:
            await asyncio.sleep(left / SECOND)


def fresh_secret(size: int = 32) -> bytes:
    """Chance that nobody can foresee, for keys and what is signed with them: no clock and no seed gives it again."""
    return os.urandom(size)
