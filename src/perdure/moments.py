"""Moments: microseconds since 1970, and how people and JSON write them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

Micros = int
"""Microseconds since 1970 in UTC: the only form of time inside."""

SECOND: Micros = 1_000_000
_MILLIS = [f".{number:03d}" for number in range(1000)]
_MICROS = [f"{number:03d}Z" for number in range(1000)]


def iso(at: Micros | None) -> str | None:
    """ISO 8601 in UTC with microseconds, for people and JSON."""
    if at is None:
        return None
    seconds, micros = divmod(at, SECOND)
    return _iso_seconds(seconds) + _MILLIS[micros // 1000] + _MICROS[micros % 1000]


@lru_cache(256)
def _iso_seconds(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
