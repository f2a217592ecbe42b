"""A turnstile before what costs a server most: a few at once, so that whoever only looks is soon answered.

Asking is not slowed by it: what is let through together is committed together, and who has waited for a handler longer
than a moment lets the next one in.
"""

from __future__ import annotations

import asyncio
from collections import deque

AT_ONCE = 8
MOMENT_SECONDS = 0.02


class Turnstile:
    """Lets so many in at once, in the order they came."""

    def __init__(self, at_once: int = AT_ONCE, moment_seconds: float = MOMENT_SECONDS) -> None:
        self._free = at_once
        self._moment = moment_seconds
        self._inside: dict[Turn, float] = {}
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def turn(self) -> Turn:
        """`async with turnstile.turn():` around the work."""
        return Turn(self)

    async def enter(self, turn: Turn) -> None:
        loop = asyncio.get_running_loop()
        if self._free:
            self._free -= 1
        else:
            await self._place(loop)
        self._inside[turn] = loop.time()

    async def _place(self, loop: asyncio.AbstractEventLoop) -> None:
        place: asyncio.Future[None] = loop.create_future()
        self._waiting.append(place)
        if self._timer is None:
            self._timer = loop.call_later(self._moment, self._look, loop)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._next()  # the turn came when nobody wanted it any more
            raise

    def leave(self, turn: Turn) -> None:
        """Once for each turn: who was held to take too long has left already."""
        if self._inside.pop(turn, None) is not None:
            self._next()

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """While somebody waits, let go of those who are inside for longer than a moment."""
        latest = loop.time() - self._moment
        for turn in [turn for turn, since in self._inside.items() if since <= latest]:
            self.leave(turn)
        self._timer = loop.call_later(self._moment, self._look, loop) if self._waiting else None

    def _next(self) -> None:
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self._free += 1


class Turn:
    """One turn; given back at its end, or when the work takes long and others wait."""

    __slots__ = ("_stile",)

    def __init__(self, stile: Turnstile) -> None:
        self._stile = stile

    async def __aenter__(self) -> None:
        await self._stile.enter(self)

    async def __aexit__(self, *_: object) -> None:
        self._stile.leave(self)
