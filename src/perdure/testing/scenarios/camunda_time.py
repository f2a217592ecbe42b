"""The clock of a Camunda broker in tests: it stands still unless it is moved."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from typing import Any

from perdure.errors import InvariantBroken
from perdure.sources import SECOND, Micros, SystemSources, iso

AGAIN = SECOND
TICK = SECOND // 1000
"""Camunda counts milliseconds."""
CHECK = 101 * TICK
"""A little more than what it waits before it looks at what is due already."""
AHEAD = 86_400 * SECOND
"""How far time is ahead of the machine's. A broker that is killed begins again at the machine's time: were that the
later one, what it has planned until it is told the time would not be done before that moment."""


def beginning() -> Micros:
    """A time to begin at, ahead of the machine's."""
    return SystemSources().now() + AHEAD


class BrokerTime:
    """The clock of a broker that was started as `CamundaBroker` starts it, by the url of its REST interface."""

    def __init__(self, rest: str, at: Micros) -> None:
        if at <= SystemSources().now():
            fact = "it is not ahead of the machine's, at which a broker that was killed begins again"
            raise InvariantBroken("set", "clock", iso(at) or "", fact)
        self._rest = rest
        self._now = at
        self._sources = SystemSources()
        self._said_at = 0
        self._say()

    async def now(self) -> Micros:
        """The moment it was set to; a little later where somebody waits for what is due already."""
        if self._sources.monotonic() - self._said_at > AGAIN:
            return await self.tick(CHECK)
        return self._now

    async def tick(self, by: Micros = TICK) -> Micros:
        """Let it move by the least that Camunda counts: what is locked now and later has different deadlines."""
        self._now += by
        await asyncio.to_thread(self._say)
        return self._now

    async def move_to(self, at: Micros) -> Micros:
        """A timer fires when its moment is over."""
        if at > self._now:
            self._now = at + TICK
            await asyncio.to_thread(self._say)
        return self._now

    def _say(self) -> None:
        self._said_at = self._sources.monotonic()
        self._ask("PUT", "clock", {"timestamp": self._now // TICK})

    async def post(self, path: str, body: Any) -> None:
        """Ask the broker for something else."""
        await asyncio.to_thread(self._ask, "POST", path, body)

    def _ask(self, method: str, path: str, body: Any) -> None:
        headers = {"Content-Type": "application/json"}
        asked = urllib.request.Request(f"{self._rest}/{path}", json.dumps(body).encode(), headers, method=method)
        with urllib.request.urlopen(asked, timeout=30):
            pass
