"""Checks of business days: every verb and document type that counts them names a calendar that there is."""

from __future__ import annotations

from collections.abc import Iterator

from perdure.business_calendar import CalendarError, Calendars
from perdure.durations import parse_business_days
from perdure.errors import StoreSettingError
from perdure.verbs import Catalogue
from perdure.verbs.definition import CALENDAR, Execution


def check_calendars(catalogue: Catalogue, calendars: Calendars) -> None:
    """Raise StoreSettingError for a verb or a document type that counts by a calendar nobody declared."""
    for verb in catalogue.every_version():
        for text in _texts(verb.execution):
            _check(calendars, "verb", verb.name, "waits", text)
    for type in catalogue.documents.values():
        _check(calendars, "document type", type.name, "is valid for", type.validity)


def _check(calendars: Calendars, thing: str, name: str, does: str, text: str) -> None:
    asked = parse_business_days(text)
    if asked is None:
        return
    try:
        calendars.named(asked.calendar)
    except CalendarError as error:
        fact = f"it {does} '{text}', and of the calendar '{error.id}' {error.fact}"
        raise StoreSettingError("load", thing, name, fact, error.hint) from error


def _texts(execution: Execution) -> Iterator[str]:
    yield execution.timeout_text
    if execution.handler == CALENDAR and "days" in execution.params:
        calendar = execution.params.get("calendar")
        yield f"1 business day in {calendar}" if calendar else "1 business day"
    if execution.task is not None:
        yield execution.task.due
        yield from (rung.after for rung in execution.task.ladder if isinstance(rung.after, str))
