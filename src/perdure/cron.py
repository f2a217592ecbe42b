"""Cron texts: the next time of one, as a pure function that machines are handed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cronsim import CronSim, CronSimError

from perdure.sources import SECOND, Micros

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MACROS = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}  # fmt: skip


def next_cron(text: str, after: Micros) -> Micros:
    """The next time of a cron text after a moment, in UTC; 0 when the text is none or no time follows."""
    start = _EPOCH + timedelta(microseconds=after)
    try:
        found: datetime = next(CronSim(_MACROS.get(text, text), start))
    except (CronSimError, StopIteration):
        return 0
    return (found - _EPOCH) // timedelta(microseconds=1)


def is_cron(text: str) -> bool:
    return next_cron(text, SECOND) > 0
