"""Durations of ISO 8601, years and months as the calendar counts them in UTC, and business days."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date
from typing import NamedTuple

from perdure.errors import PerdureError
from perdure.moments import SECOND

DAY = 86_400_000_000
_EPOCH = date(1970, 1, 1).toordinal()
_ERA_MONTHS, _ERA_DAYS = 4_800, 146_097
"""After 400 years the calendar repeats itself, so that no year is too late for it."""


class Span(NamedTuple):
    months: int
    micros: int


MAX_BUSINESS_DAYS = 9_999
_BUSINESS_DAYS = re.compile(r"([1-9]\d{0,3}) business days?(?: in ([A-Za-z][A-Za-z0-9_-]{0,63}))?", re.ASCII)


class BusinessDays(NamedTuple):
    """`5 business days in london`; without a calendar, the default one is meant."""

    days: int
    calendar: str = ""


def parse_business_days(text: str) -> BusinessDays | None:
    """The business days a text asks for, None where it asks for none; a calendar says how long they are."""
    found = _BUSINESS_DAYS.fullmatch(text.strip())
    return BusinessDays(int(found[1]), found[2] or "") if found is not None else None


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


class DurationError(PerdureError):
    """A text that is not an ISO 8601 duration, or not one of a fixed length where that is needed."""

    code = "duration.invalid"


_DURATION = re.compile(
    r"P(?=.)(?:(?P<weeks>\d{1,9})W|(?:(?P<days>\d{1,9})D)?"
    r"(?:T(?=.)(?:(?P<hours>\d{1,9})H)?(?:(?P<minutes>\d{1,9})M)?(?:(?P<seconds>\d{1,9}(?:\.\d{1,9})?)S)?)?)",
    re.ASCII,
)

_UNIT_SECONDS = {"weeks": 604800, "days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}

_CALENDAR = re.compile(r"P[^T]*\d[\d.,]*[YM]", re.ASCII)

_YEARS_AND_MONTHS = re.compile(r"P(?=\d+[YM])(?:(\d{1,9})Y)?(?:(\d{1,9})M)?", re.ASCII)

MAX_YEARS = 5_000
"""Longest span: what is due after it still has a date."""


def parse_duration(text: str) -> float:
    """Seconds of an ISO 8601 duration of weeks, days, hours, minutes and seconds, e.g. `P14D` or `PT2.5S`."""
    seconds = _seconds(text)
    if seconds is None and _CALENDAR.match(text):
        fact, hint = "years and months have no fixed length", "Write days instead, e.g. P30D or P365D."
        raise DurationError("read", "duration", text[:80], fact, hint)
    if seconds is None:
        raise _unread(text)
    return seconds


def parse_span(text: str) -> Span:
    """An ISO 8601 duration that may have years and months, e.g. `P1Y` or `P1M2DT3H`."""
    calendar = _YEARS_AND_MONTHS.match(text)
    years, months = (int(number or 0) for number in calendar.groups()) if calendar else (0, 0)
    rest = f"P{text[calendar.end() :]}" if calendar else text
    seconds = 0.0 if calendar and rest == "P" else _seconds(rest)
    if seconds is None:
        raise _unread(text)
    span = Span(years * 12 + months, int(seconds * SECOND))
    if span.months // 12 + span.micros // (365 * DAY) > MAX_YEARS:
        raise DurationError("read", "duration", text[:80], f"it is longer than {MAX_YEARS:,} years", "Write less.")
    return span


def _seconds(text: str) -> float | None:
    match = _DURATION.fullmatch(text)
    if match is None:
        return None
    return float(sum(float(number) * _UNIT_SECONDS[unit] for unit, number in match.groupdict(default="0").items()))


def _unread(text: str) -> DurationError:
    if text.startswith(("-", "+")):
        fact, hint = "a duration has no sign", "Write it as e.g. PT30S."
    else:
        fact, hint = "it is not an ISO 8601 duration", "Write it as e.g. P14D, PT2S or P1DT12H."
    return DurationError("read", "duration", text[:80], fact, hint)
