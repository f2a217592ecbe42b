"""Journals of a server: what happened, and what is still to come."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from msgspec.structs import replace

from perdure.app.calls.views import EventView
from perdure.app.feed.feed import FeedItem
from perdure.app.lists.cursors import DEFAULT_LIMIT, Page
from perdure.app.operations import events
from perdure.app.operations.events import FollowFeed, FollowJournal, FollowOutcomes
from perdure.app.operations.operation import Operation, R
from perdure.app.outcomes.event_table import OutcomeEvent
from perdure.client.asynchronous.transport import Transport, placed
from perdure.typed_reading import read_json

MOST = 200
Journal = Operation[FollowJournal, Page[EventView]]
Outcomes = Operation[FollowOutcomes, Page[OutcomeEvent]]
ENDINGS = frozenset({"ExecutionResult", "Cancelled"})
"""Events with which a call or runbook may have ended."""


async def journal(
    transport: Transport, operation: Journal, id: str, after: int, seen: int = 0
) -> AsyncIterator[EventView]:
    """What happened after a record, of which `seen` events are known; oldest first."""
    index, last, cursor = 0, 0, str(after - 1 if seen else after)
    while True:
        page = await transport.ask(operation, FollowJournal(id, cursor, MOST))
        for event in page.items:
            index = index + 1 if event.sequence == last else 1
            last = event.sequence
            if event.sequence > after or index > seen:
                yield event
        if page.next is None:
            return
        cursor = page.next


def journal_of(
    transport: Transport, operation: Journal, show: Operation[R, Any], subject: R, after: int, follow: bool
) -> AsyncIterator[EventView]:
    """The journal of a subject; with `follow`, what is still to come as well until it ends."""
    if follow:
        return follow_journal(transport, operation, show, subject, after)
    return journal(transport, operation, str(getattr(subject, "id")), after)  # noqa: B009  whatever is shown has it


async def follow_journal(
    transport: Transport, operation: Journal, show: Operation[R, Any], subject: R, after: int
) -> AsyncIterator[EventView]:
    """The journal and what is still to come, until it has ended; through however many connections, each event once."""
    view = await transport.ask(show, subject)
    record, seen, id = min(after, view.sequence), 0, view.id
    path, _ = placed(operation, FollowJournal(id))
    if not view.is_ended:
        async for events in transport.stream(path, str(record)):
            for sent in events:
                if not sent.data:
                    continue
                event = read_json(sent.data, EventView)
                record, seen = event.sequence, int(sent.id.partition(".")[2] or 0)
                yield event
            # Only what is newer than what is known can have ended it.
            if record >= view.sequence:
                view = await transport.ask(show, subject)
            if view.is_ended:
                break
    async for event in journal(transport, operation, id, record, seen):
        yield event


async def outcomes(
    transport: Transport, operation: Outcomes, show: Operation[R, Any], subject: R, asked: FollowOutcomes, follow: bool
) -> AsyncIterator[OutcomeEvent]:
    """The outcome events of a subject; with `follow`, what is still to come as well until it ends."""
    has_ended = not follow or (await transport.ask(show, subject)).is_ended
    if not has_ended:
        path, _ = placed(operation, FollowOutcomes(asked.id))
        async for sent in transport.stream(f"{path}?step={asked.step}", asked.after or ""):
            told = [read_json(each.data, OutcomeEvent) for each in sent if each.data]
            for event in told:
                yield event
                asked = replace(asked, after=event.cursor)
            if not told or any(each.event in ENDINGS for each in told):
                has_ended = (await transport.ask(show, subject)).is_ended
            if has_ended:
                break
    cursor: str | None = asked.after or ""
    while cursor is not None:
        page = await transport.ask(operation, replace(asked, after=cursor or None, limit=MOST))
        for event in page.items:
            yield event
        cursor = page.next


class Feed:
    """The journal of a tenant in the order of commits, entry by entry. Reached as `client.feed`.

    Who goes on from the cursor of the last item seen misses none and meets none twice, also after a crash of either
    side or of what is between them.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def end(self) -> str:
        """The cursor of now: who takes it before listing and follows from it misses nothing."""
        cursor = ""
        async for sent in self._transport.stream("/events", ""):
            cursor = next((each.id for each in sent if each.id), "")
            if cursor:
                break
        return cursor

    async def read(self, after: str | None = None, limit: int = DEFAULT_LIMIT) -> Page[FeedItem]:
        """Items after a cursor, without one from the first on. `next` is always there: whoever has all asks again."""
        return await self._transport.ask(events.follow_events, FollowFeed(after, limit))

    async def follow(
        self, after: str | None = None, *, pulse_seconds: float | None = None
    ) -> AsyncIterator[list[FeedItem]]:
        """What comes after a cursor, from now on without one; through however many connections, each item once.

        With `pulse_seconds` an empty batch comes whenever the server says that nothing has happened; how often is up
        to the server.
        """
        async for sent in self._transport.stream("/events", after or ""):
            items = [read_json(each.data, FeedItem) for each in sent if each.data]
            if items or (pulse_seconds is not None and not any(each.id for each in sent)):
                yield items
