"""Moments as people say them: how long ago, how soon."""

from __future__ import annotations

import os
from datetime import datetime

from perdure.sources import SECOND, SystemSources

AHEAD = "PERDURE_CLOCK_AHEAD"
UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


def clock() -> SystemSources:
    """The clock of this command: the system's, or one that is ahead of it, for tests and demonstrations."""
    ahead = os.environ.get(AHEAD)
    if not ahead:
        return SystemSources()
    from perdure.durations import parse_duration
    from perdure.testing.virtual_clock import AheadSources

    return AheadSources(int(parse_duration(ahead) * SECOND))


def relative(moment: str | None) -> str:
    """`3 minutes ago`, `in 14 days`; the moment is ISO 8601."""
    if not moment:
        return ""
    at = datetime.fromisoformat(moment).timestamp()
    seconds = at - clock().now() / SECOND
    if abs(seconds) < 1:
        return "just now"
    words = spoken(abs(seconds))
    return f"in {words}" if seconds > 0 else f"{words} ago"


def spoken(seconds: float) -> str:
    """A span in its largest unit, rounded."""
    for size, unit in UNITS:
        if seconds >= size * 0.95:
            count = max(1, round(seconds / size))
            return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
    return "a moment"
