"""Pages of one journal: where a page ends inside a record, the next goes on inside it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

from perdure.app.paging import Page, checked_limit, cursor_of, place_of
from perdure.app.views import EventView

Events = Callable[[int], AsyncIterator[EventView]]
"""The events after a record, oldest first."""


async def page_of_events(events: Events, scope: tuple[str, ...], after: str | None, limit: int) -> Page[EventView]:
    """So many events after a cursor of the same journal."""
    checked_limit(limit)
    sequence, told = place_of(scope, after, tuple[int, int]) if after else (1, 0)
    found: list[EventView] = []
    reading: Any = events(max(sequence - 1, 0))
    async with aclosing(reading):
        async for event in reading:
            if event.sequence == sequence and told:
                told -= 1
                continue
            if len(found) == limit:
                return Page(found, cursor_of(scope, _place(found, sequence if after else 0, after, scope)))
            found.append(event)
    return Page(found, None)


def _place(found: list[EventView], began: int, after: str | None, scope: tuple[str, ...]) -> tuple[int, int]:
    """The record of the last event told, and how many of its events were told by now."""
    last = found[-1].sequence
    count = sum(each.sequence == last for each in found)
    if after and last == began:
        count += place_of(scope, after, tuple[int, int])[1]
    return last, count
