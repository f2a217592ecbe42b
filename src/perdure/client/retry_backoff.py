"""When to ask again: a little later each time, never all at once, and not for ever."""

from __future__ import annotations

from perdure.sources import SECOND, Sources

FIRST_SECONDS = 0.1
LONGEST_SECONDS = 5.0
LONGEST_TOLD_SECONDS = 30.0
"""How long a server may ask us to stay away."""


class Patience:
    """One run of failures: how long to pause before the next attempt, and when to give up."""

    def __init__(self, sources: Sources, seconds: float) -> None:
        self._sources = sources
        self._seconds = seconds
        self._began = 0
        self._failures = 0

    def renew(self) -> None:
        """It went well: the next failure is the first."""
        self._began = self._failures = 0

    def pause(self, retry_after: str = "") -> float | None:
        """Seconds until the next attempt; None when patience is at an end."""
        now = self._sources.now()
        self._began = self._began or now
        self._failures += 1
        longest = min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** min(self._failures, 16))
        seconds = max(longest * (0.5 + self._sources.random() / 2), _told(retry_after))
        left = self._seconds - (now - self._began) / SECOND
        return seconds if left > 0 and seconds <= left + longest else None


def _told(retry_after: str) -> float:
    try:
        return min(LONGEST_TOLD_SECONDS, max(0.0, float(retry_after)))
    except ValueError:
        return 0.0
