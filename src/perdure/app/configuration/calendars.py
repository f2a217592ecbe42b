"""The sections `calendars` and `calendar`: business calendars by name, and which of them is meant without one."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from perdure.business_calendar import (
    DAY_MINUTES,
    OFFICE,
    WEEKDAYS,
    BusinessCalendar,
    CalendarError,
    Calendars,
    Hours,
    country_holidays,
)
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.yaml_nodes import Node

CALENDAR_KEYS = frozenset({"zone", "days", "hours", "holidays", "half_days", "country", "subdivision"})
_CLOCK = re.compile(r"([01]\d|2[0-4]):([0-5]\d)")
_HOURS_HINT = "Write 09:00-17:00, or one such text for each day: {mon: 09:00-17:00, fri: 09:00-15:00}."


def read_calendars(fields: Fields) -> Calendars:
    """The sections as they are written; problems go to the report."""
    found = fields.mapping("calendars") if "calendars" in fields else {}
    known = {
        name: _calendar(Fields(node, "calendar", fields.file, fields.report, accepted=CALENDAR_KEYS))
        for name, node in found.items()
    }
    default = fields.text("calendar")
    if default and default not in known:
        hint = f"There are {', '.join(known)}." if known else "Declare it under `calendars`."
        fields.wrong(fields.get("calendar"), "calendar", f"there is no calendar '{default}'", hint)
    return Calendars(known, default)


def _calendar(fields: Fields) -> BusinessCalendar:
    return BusinessCalendar(
        _zone(fields), _hours(fields), frozenset(_holidays(fields)), _half_days(fields), *_country(fields)
    )


def _zone(fields: Fields) -> str:
    zone = fields.text("zone", "UTC")
    try:
        ZoneInfo(zone)
    except (ValueError, OSError, KeyError):
        fields.wrong(fields.get("zone"), "zone", f"there is no time zone '{zone}'", "Write for example Europe/London.")
        return "UTC"
    return zone


def _hours(fields: Fields) -> tuple[Hours | None, ...]:
    node = fields.get("hours")
    by_day: dict[str, Hours | None] = dict(zip(WEEKDAYS, OFFICE, strict=True))
    if node is not None and isinstance(node.value, dict):
        by_day = dict.fromkeys(WEEKDAYS)
        for name, part in node.value.items():
            if name not in WEEKDAYS:
                fields.wrong(part, "hours", f"'{name}' is no day of the week", f"Use {', '.join(WEEKDAYS)}.")
            by_day[name] = _span(fields, part)
    elif node is not None:
        span = _span(fields, node)
        by_day = {day: span if hours is not None else None for day, hours in by_day.items()}
    if "days" in fields:
        by_day = _on_days(fields, by_day)
    if not any(by_day.values()):
        fields.wrong(fields.node, "hours", "it has no working day", _HOURS_HINT)
    return tuple(by_day[day] for day in WEEKDAYS)


def _on_days(fields: Fields, by_day: dict[str, Hours | None]) -> dict[str, Hours | None]:
    """The hours on the days that are named; a day without hours of its own has those of the others."""
    days, usual = fields.texts("days"), next((hours for hours in by_day.values() if hours is not None), None)
    for day in days:
        if day not in WEEKDAYS:
            fields.wrong(fields.get("days"), "days", f"'{day}' is no day of the week", f"Use {', '.join(WEEKDAYS)}.")
    return {day: (by_day[day] or usual) if day in days else None for day in WEEKDAYS}


def _span(fields: Fields, node: Node) -> Hours | None:
    opens, dash, closes = str(node.value).replace(" ", "").partition("-")
    begin, end = _minute(opens), _minute(closes)
    if not dash or begin is None or end is None or begin >= end:
        fields.wrong(node, "hours", f"'{node.value}' are no working hours", _HOURS_HINT)
        return None
    return begin, end


def _minute(text: str) -> int | None:
    found = _CLOCK.fullmatch(text)
    minute = int(found[1]) * 60 + int(found[2]) if found is not None else None
    return minute if minute is not None and minute <= DAY_MINUTES else None


def _holidays(fields: Fields) -> list[date]:
    days = [_day(fields, node, node.value) for node in fields.items("holidays")]
    return [day for day in days if day is not None]


def _half_days(fields: Fields) -> dict[date, int]:
    found: dict[date, int] = {}
    for text, node in fields.mapping("half_days").items():
        day, closes = _day(fields, node, text), _minute(str(node.value))
        if closes is None:
            fields.wrong(node, "half_days", f"'{node.value}' is no time of day", "Write when it closes: 12:30.")
        elif day is not None:
            found[day] = closes
    return found


def _day(fields: Fields, node: Node, value: Any) -> date | None:
    if isinstance(value, date):
        return value.date() if isinstance(value, datetime) else value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        fields.wrong(node, "date", f"'{value}' is no date", "Write 2026-12-25.")
        return None


def _country(fields: Fields) -> tuple[str, str]:
    country, subdivision = fields.text("country"), fields.text("subdivision")
    if country:
        try:
            country_holidays(country, subdivision, 2026)
        except CalendarError as error:
            fields.wrong(fields.get("country"), "country", error.fact, error.hint)
    return country, subdivision
