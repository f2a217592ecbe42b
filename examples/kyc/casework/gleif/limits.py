"""How often a service may be asked: a bucket of tokens that fills up as time passes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

PER_MINUTE = 60


class TokenBucket:
    """At most `capacity` requests at once and `per_minute` in the long run; whoever is too early waits."""

    def __init__(
        self,
        per_minute: float = PER_MINUTE,
        capacity: int = 10,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._rate = per_minute / 60
        self._capacity = capacity
        self._now, self._sleep = now, sleep
        self._tokens = float(capacity)
        self._at = now()

    async def take(self) -> None:
        """Return when a request may be made. Tokens are owed in order, so nobody is overtaken."""
        now = self._now()
        self._tokens = min(self._capacity, self._tokens + (now - self._at) * self._rate) - 1
        self._at = now
        if self._tokens < 0:
            await self._sleep(-self._tokens / self._rate)
