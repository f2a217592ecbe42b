"""Moments: microseconds since 1970, their ISO form and RFC 3339 texts."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
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


_DATE_TIME = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))(?:\[[A-Za-z][\w+/-]{0,63}\])?", re.ASCII
)

_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


def parse_date_time(text: str) -> int:
    """Microseconds (at least 1) of an RFC 3339 date and time, 0 for anything else.

    A zone may follow, as in `2031-01-01T00:00:00+01:00[Europe/Berlin]`: it is the offset that counts.
    """
    match = _DATE_TIME.fullmatch(text)
    try:
        return max(1, (datetime.fromisoformat(match[1]) - _EPOCH) // _MICROSECOND) if match else 0
    except (ValueError, OverflowError):
        return 0


def is_date_time(text: str) -> bool:
    """Whether the text is an RFC 3339 date and time with its offset."""
    return parse_date_time(text) > 0


def day_start(text: str) -> Micros:
    """The first moment of a day such as `2031-01-31`, in UTC; 0 for anything else."""
    return parse_date_time(f"{text}T00:00:00Z")
