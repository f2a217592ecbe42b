"""The concurrency limit of expensive routes: few requests at once while a browser reads, so that each is answered soon.

Asking is hardly slowed by it: what is let through together is committed together, who has waited for a handler longer
than a moment lets the next one in, and while nobody looks there is room for many.
"""

from __future__ import annotations

import asyncio
from collections import deque

AT_ONCE = 32
AT_ONCE_WATCHED = 4
WATCHED_SECONDS = 0.1
"""For how long after a look others are expected to follow."""
MOMENT_SECONDS = 0.02


class Admission:
    """Lets so many in at once, in the order they came."""

    def __init__(
        self, at_once: int = AT_ONCE, watched: int = AT_ONCE_WATCHED, moment_seconds: float = MOMENT_SECONDS
    ) -> None:
        self._at_once = at_once
        self._watched = watched
        self._moment = moment_seconds
        self._watched_until = 0.0
        self._inside: dict[AdmissionTurn, float] = {}
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._promised = 0
        self._timer: asyncio.TimerHandle | None = None

    def turn(self) -> AdmissionTurn:
        """`async with turnstile.turn():` around the work."""
        return AdmissionTurn(self)

    def looked(self) -> None:
        """Somebody looks: for a while, fewer at once."""
        self._watched_until = asyncio.get_running_loop().time() + WATCHED_SECONDS

    async def enter(self, turn: AdmissionTurn) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        if self._waiting or not self._has_room(now):
            await self._place(loop)
            now = loop.time()
        self._inside[turn] = now

    async def _place(self, loop: asyncio.AbstractEventLoop) -> None:
        place: asyncio.Future[None] = loop.create_future()
        self._waiting.append(place)
        if self._timer is None:
            self._timer = loop.call_later(self._moment, self._look, loop)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._promised -= 1  # the turn came when nobody wanted it any more
                self._admit(loop.time())
            raise
        self._promised -= 1

    def leave(self, turn: AdmissionTurn) -> None:
        """Once for each turn: who was held to take too long has left already."""
        if self._inside.pop(turn, None) is not None and self._waiting:
            self._admit(asyncio.get_running_loop().time())

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """While somebody waits, let go of those who are inside for longer than a moment."""
        now = loop.time()
        for turn in [turn for turn, since in self._inside.items() if since <= now - self._moment]:
            del self._inside[turn]
        self._admit(now)
        self._timer = loop.call_later(self._moment, self._look, loop) if self._waiting else None

    def _admit(self, now: float) -> None:
        while self._waiting and self._has_room(now):
            place = self._waiting.popleft()
            if not place.done():
                self._promised += 1
                place.set_result(None)

    def _has_room(self, now: float) -> bool:
        most = self._watched if now < self._watched_until else self._at_once
        return len(self._inside) + self._promised < most


class AdmissionTurn:
    """One turn; given back at its end, or when the work takes long and others wait."""

    __slots__ = ("_stile",)

    def __init__(self, stile: Admission) -> None:
        self._stile = stile

    async def __aenter__(self) -> None:
        await self._stile.enter(self)

    async def __aexit__(self, *_: object) -> None:
        self._stile.leave(self)
