"""Spans of time: years and months as the calendar counts them in UTC, the rest in microseconds."""

from __future__ import annotations

from calendar import monthrange
from datetime import date
from typing import NamedTuple

DAY = 86_400_000_000
_EPOCH = date(1970, 1, 1).toordinal()
_ERA_MONTHS, _ERA_DAYS = 4_800, 146_097
"""After 400 years the calendar repeats itself, so that no year is too late for it."""


class Span(NamedTuple):
    months: int
    micros: int


def later(moment: int, span: Span, times: int = 1) -> int:
    """So many spans after a moment, months first; a day its month does not have is the last of that month."""
    if not span.months:
        return moment + times * span.micros
    days, within_day = divmod(moment, DAY)
    era, ordinal = divmod(days + _EPOCH - 1, _ERA_DAYS)
    day = date.fromordinal(ordinal + 1)
    eras, months = divmod((day.year - 1) * 12 + day.month - 1 + times * span.months, _ERA_MONTHS)
    year, month = months // 12 + 1, months % 12 + 1
    reached = date(year, month, min(day.day, monthrange(year, month)[1])).toordinal()
    return ((era + eras) * _ERA_DAYS + reached - _EPOCH) * DAY + within_day + times * span.micros


def next_after(anchor: int, span: Span, moment: int) -> int:
    """The first time after a moment that is a whole number of spans after the anchor, and at least one."""
    longest = span.months * 31 * DAY + span.micros
    times = max(1, (moment - anchor) // longest)
    while (found := later(anchor, span, times)) <= moment:
        times += 1
    return found
