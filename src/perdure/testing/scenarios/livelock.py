"""Whether a scenario comes to rest: a process that loops for ever at one instant is found out and named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from perdure.errors import InvariantBroken
from perdure.sources import Micros, iso

MAX_VISITS = 20_000
"""How often one element may be visited at one instant; loops of ten thousand are meant."""
MAX_INSTANCES = 5_000
"""How many instances of one process may begin at one instant."""


class Endless(InvariantBroken):
    """A process that never waits: there is no end of what happens now."""


class Unrest:
    """Counts what happens at one instant, and says what there is too much of."""

    def __init__(self, now: Callable[[], Micros]) -> None:
        self._now = now
        self._at: Micros = 0
        self._counts: Counter[str] = Counter()
        self.found = ""
        """What goes on for ever; empty while nothing does."""

    def visited(self, element: str) -> None:
        self._count(f"'{element}' was visited", MAX_VISITS)

    def began(self, process: str, caller: str) -> None:
        called = f" called at '{caller}'" if caller else ""
        self._count(f"instances of '{process}'{called} began", MAX_INSTANCES)

    def check(self) -> None:
        """Raises Endless once there is too much."""
        if self.found:
            raise Endless("come to rest at", "instant", iso(self._at) or "", self.found)

    def _count(self, what: str, most: int) -> None:
        if self._at != self._now():
            self._at = self._now()
            self._counts.clear()
        self._counts[what] += 1
        if self._counts[what] > most:
            self.found = self.found or f"{what} more than {most:,} times"
