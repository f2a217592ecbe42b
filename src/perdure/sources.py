"""Where time, ids and chance come from: the only door to what is not deterministic."""

from __future__ import annotations

import asyncio
import os
import random
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from time import perf_counter as perf_counter
from time import thread_time as thread_time
from time import time_ns
from typing import NewType, Protocol

from perdure.errors import RejectedError, Rejection

Id = NewType("Id", bytes)
"""Sixteen bytes, ordered by the millisecond they were made in."""

Micros = int
"""Microseconds since 1970 in UTC: the only form of time inside."""

SECOND: Micros = 1_000_000
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_LETTERS = re.compile(r"[0-7][0-9a-hjkmnp-tv-zA-HJKMNP-TV-Z]{25}")
_FROM_LETTERS = str.maketrans(_ALPHABET, "0123456789abcdefghijklmnopqrstuv")
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_MILLIS = [f".{number:03d}" for number in range(1000)]
_MICROS = [f"{number:03d}Z" for number in range(1000)]
_SHIFTS = tuple(range(120, -1, -10))
ID_LENGTH = 26
IDS_AT_ONCE = 256
_VERSION, _CHANCE = 0x7000_8000 << 48, 0x0FFF_3FFF << 48 | 0xFFFF_FFFF_FFFF


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


def make_id(now: Micros, entropy: bytes) -> Id:
    """A version 7 UUID's bytes from a time and ten bytes of chance."""
    tail = int.from_bytes(entropy, "big") & _CHANCE | _VERSION
    return Id((now // 1000 << 80 | tail).to_bytes(16, "big"))


@lru_cache(4096)
def id_text(id: bytes) -> str:
    """The 26 letters a person sees for an id."""
    number, pairs = int.from_bytes(id, "big"), _PAIRS
    return "".join([pairs[(number >> shift) & 1023] for shift in _SHIFTS])


def parse_id(text: str, thing: str = "call") -> Id:
    """The id behind its 26 letters; anything else is rejected as not found."""
    if _LETTERS.fullmatch(text):
        return Id(int(text.lower().translate(_FROM_LETTERS), 32).to_bytes(16, "big"))
    raise RejectedError(
        Rejection("not_found", "find", thing, text[:80], "that is not an id", f"Ids are {ID_LENGTH} letters.")
    )


def derive_id(now: Micros, seed: bytes) -> Id:
    """An id that the same seed always gives, for effects that must be announced once."""
    return make_id(now, seed[:10])


def iso(at: Micros | None) -> str | None:
    """ISO 8601 in UTC with microseconds, for people and JSON."""
    if at is None:
        return None
    seconds, micros = divmod(at, SECOND)
    return _iso_seconds(seconds) + _MILLIS[micros // 1000] + _MICROS[micros % 1000]


@lru_cache(256)
def _iso_seconds(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
