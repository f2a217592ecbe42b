"""Cron texts: the next time of one, as a pure function that machines are handed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cronsim import CronSim, CronSimError

from perdure.sources import SECOND, Micros

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def next_cron(text: str, after: Micros) -> Micros:
    """The next time of a cron text after a moment, in UTC; 0 when the text is none or no time follows."""
    start = _EPOCH + timedelta(microseconds=after)
    try:
        found: datetime = next(CronSim(text, start))
    except (CronSimError, StopIteration):
        return 0
    return (found - _EPOCH) // timedelta(microseconds=1)


def is_cron(text: str) -> bool:
    return next_cron(text, SECOND) > 0
