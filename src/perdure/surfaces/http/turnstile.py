"""A turnstile before what costs a server most: a few at once, so that whoever only looks is soon answered.

Asking is not slowed by it: what is let through together is committed together, and who has waited for a handler longer
than a moment lets the next one in.
"""

from __future__ import annotations

import asyncio
from collections import deque

AT_ONCE = 12
MOMENT_SECONDS = 0.02


class Turnstile:
    """Lets so many in at once, in the order they came."""

    def __init__(self, at_once: int = AT_ONCE, moment_seconds: float = MOMENT_SECONDS) -> None:
        self._free = at_once
        self._moment = moment_seconds
        self._waiting: deque[asyncio.Future[None]] = deque()

    def turn(self) -> Turn:
        """`async with turnstile.turn():` around the work."""
        return Turn(self, self._moment)

    async def enter(self) -> None:
        if self._free:
            self._free -= 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave()  # the turn came when nobody wanted it any more
            raise

    def leave(self) -> None:
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self._free += 1


class Turn:
    """One turn; given back at its end, or after a moment when the work takes longer."""

    def __init__(self, stile: Turnstile, moment_seconds: float) -> None:
        self._stile = stile
        self._moment = moment_seconds
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> None:
        await self._stile.enter()
        self._timer = asyncio.get_running_loop().call_later(self._moment, self._give_back)

    async def __aexit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._give_back()

    def _give_back(self) -> None:
        if self._timer is not None:
            self._timer = None
            self._stile.leave()
