"""Pauses between attempts: exponential with full jitter, so that many who were refused do not come back together."""

from __future__ import annotations

from perdure.moments import SECOND

BASE = SECOND // 10
LONGEST = 5 * SECOND
MAX_EXPONENT = 16


def pause_after(failures: int, chance: float) -> int:
    """The pause in microseconds after so many failures in a row; `chance` lies between 0 and 1."""
    longest = min(BASE << min(max(0, failures - 1), MAX_EXPONENT), LONGEST)
    return int(longest * (0.25 + 0.75 * chance))
