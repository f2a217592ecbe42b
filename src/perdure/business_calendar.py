"""Business calendars: when so many business days after a moment is, by working hours, holidays and a time zone.

A wait that opens outside working hours counts from the next opening. The day that is reached keeps the time of day, or
closes earlier: what would be due after closing is due at closing.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import msgspec

from perdure.durations import BusinessDays
from perdure.errors import PerdureError

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
LONGEST_CLOSED_DAYS = 366
"""Days in a row without a working one after which a calendar is taken to have none."""
DAY_MINUTES = 24 * 60
_MINUTE = 60_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Hours = tuple[int, int]
"""Minutes of the day at which work begins and ends."""
OFFICE: tuple[Hours | None, ...] = (*[(9 * 60, 17 * 60)] * 5, None, None)


class CalendarError(PerdureError):
    """Business days that cannot be counted: no such calendar, or none that ever works."""

    code = "calendar.invalid"


class BusinessCalendar(msgspec.Struct, frozen=True):
    """When work is done at one place. `hours` are those of each day of the week, Monday first."""

    zone: str = "UTC"
    hours: tuple[Hours | None, ...] = OFFICE
    holidays: frozenset[date] = frozenset()
    half_days: Mapping[date, int] = {}
    """Days that close earlier, with the minute at which they do."""
    country: str = ""
    """The country whose public holidays the package `holidays` knows, `GB` or `DE`."""
    subdivision: str = ""

    def after(self, moment: int, days: int) -> int:
        """So many business days after a moment, in microseconds."""
        local = self.local(moment)
        day, within = local.date(), _within_day(local)
        hours = self.hours_of(day)
        if hours is None or within >= hours[1] * _MINUTE:
            day = self._next(day)
            within = self._open(day)[0] * _MINUTE
        for _ in range(days):
            day = self._next(day)
        opens, closes = self._open(day)
        within = min(max(within, opens * _MINUTE), closes * _MINUTE)
        reached = datetime.combine(day, datetime.min.time()) + timedelta(microseconds=within)
        return (reached.replace(tzinfo=local.tzinfo).astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)

    def day_after(self, day: date, days: int) -> date:
        """So many business days after a day; one without work counts from the next day with some."""
        if self.hours_of(day) is None:
            day = self._next(day)
        for _ in range(days):
            day = self._next(day)
        return day

    def local(self, moment: int) -> datetime:
        """A moment as the clocks there show it."""
        return (_EPOCH + timedelta(microseconds=moment)).astimezone(ZoneInfo(self.zone))

    def hours_of(self, day: date) -> Hours | None:
        """When work begins and ends on a day, None on a day without work."""
        hours = self.hours[day.weekday()]
        if hours is None or day in self.holidays:
            return None
        if self.country and day in country_holidays(self.country, self.subdivision, day.year):
            return None
        closes = min(hours[1], self.half_days.get(day, DAY_MINUTES))
        return (hours[0], closes) if closes > hours[0] else None

    def _open(self, day: date) -> Hours:
        hours = self.hours_of(day)
        assert hours is not None
        return hours

    def _next(self, day: date) -> date:
        """The next working day after a day."""
        for ahead in range(1, LONGEST_CLOSED_DAYS + 1):
            if self.hours_of(found := day + timedelta(days=ahead)) is not None:
                return found
        fact = f"no day of the {LONGEST_CLOSED_DAYS} after {day} is a working one"
        raise CalendarError("count business days by", "calendar", self.zone, fact, "Give it working days and hours.")


class Calendars:
    """The calendars of a project, by name; the default one is named, or the only one there is."""

    def __init__(self, known: Mapping[str, BusinessCalendar] | None = None, default: str = "") -> None:
        self.known = dict(known or {})
        self.default = default or (next(iter(self.known)) if len(self.known) == 1 else "")

    def named(self, name: str = "") -> BusinessCalendar:
        """A calendar by its name, the default one without."""
        wanted = name or self.default
        if wanted in self.known:
            return self.known[wanted]
        there = f"There are {', '.join(sorted(self.known))}." if self.known else "Declare it under `calendars`."
        fact = "there is none of that name" if wanted else "none is named as the default"
        hint = there if wanted or not self.known else f"Name one: 5 business days in {next(iter(self.known))}. {there}"
        raise CalendarError("count business days by", "calendar", wanted or "default", fact, hint)

    def day(self, asked: BusinessDays, begin: date) -> date:
        """The day that is so many business days after another."""
        return self.named(asked.calendar).day_after(begin, asked.days)

    def due(self, asked: BusinessDays, now: int) -> int:
        """When so many business days from now are over."""
        return self.named(asked.calendar).after(now, asked.days)


@lru_cache(maxsize=512)
def country_holidays(country: str, subdivision: str, year: int) -> frozenset[date]:
    """The public holidays of a country in a year, from the package `holidays`."""
    try:
        package = importlib.import_module("holidays")
    except ImportError as error:
        fact, hint = "the package 'holidays' is not installed", "Install it, or list the days under `holidays`."
        raise CalendarError("read holidays of", "country", country, fact, hint) from error
    try:
        return frozenset(package.country_holidays(country, subdiv=subdivision or None, years=year))
    except (NotImplementedError, KeyError, ValueError) as error:
        raise CalendarError("read holidays of", "country", f"{country} {subdivision}".strip(), str(error)) from error


def _within_day(local: datetime) -> int:
    return ((local.hour * 60 + local.minute) * 60 + local.second) * 1_000_000 + local.microsecond
