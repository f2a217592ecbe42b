"""Streams of journals and of the tenant's feed: a page of an operation, again and again, and what is still to come."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from msgspec.structs import replace

from perdure.access.principal import Principal
from perdure.app import Perdure
from perdure.app.calls.views import EventView
from perdure.app.feed.feed import Feed
from perdure.app.operations.events import FollowFeed, FollowJournal, FollowOutcomes, place_in_journal
from perdure.app.operations.operation import Context, Operation
from perdure.app.operations.operation_execution import perform
from perdure.app.outcomes.event_table import OutcomeEvent
from perdure.app.outcomes.stream import OutcomeFollower
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.server_sent_events import (
    MEDIA,
    MOST_EVENTS,
    PULSE_SECONDS,
    EventStream,
    bounded,
    sent_event,
)

Journal = Callable[[int], AsyncIterator[EventView]]
"""The events of one thing after a record of its journal."""
STREAMED = frozenset(
    {
        "follow_events", "follow_call", "follow_runbook", "follow_instance", "follow_call_outcomes",
        "follow_runbook_outcomes",
    }
)  # fmt: skip
Asked = TypeVar("Asked", FollowFeed, FollowJournal, FollowOutcomes)
MOST = 200


async def followed(
    request: JsonRequest, context: Context, row: Operation[Any, Any], asked: Asked
) -> tuple[Asked, EventStream | None]:
    """The request from where its reader was, and the stream of it where one is accepted.

    A browser that comes back names the place itself, and the one in its address is older.
    """
    asked = replace(asked, after=request.header(b"last-event-id") or asked.after or None)
    if MEDIA not in (request.header(b"accept") or ""):
        return asked, None
    if isinstance(asked, FollowFeed):
        if asked.after is not None:
            await perform(context, row, replace(asked, limit=1))  # a cursor that leads nowhere is refused at once
        return asked, _stream(request, context.principal, feed_chunks(context.feed, asked.after))
    if isinstance(asked, FollowOutcomes):
        await perform(context, row, replace(asked, limit=1))
        return asked, _stream(request, context.principal, outcome_chunks(context, row, asked))
    place = place_in_journal(asked.after)
    journal = _journal(context, row, asked.id)
    await anext(journal(0))  # what is not there is refused before anything is sent
    return asked, _stream(request, context.principal, journal_chunks(context.perdure, asked.id, journal, place))


def _journal(context: Context, row: Operation[Any, Any], id: str) -> Journal:
    async def events(record: int) -> AsyncIterator[EventView]:
        # Each page is authorised anew: verbs that the key does not reach may be added while somebody follows.
        after: str | None = str(record)
        while after is not None:
            page = await perform(context, row, FollowJournal(id, after, MOST))
            for event in page.items:
                yield event
            after = page.next

    return events


async def outcome_chunks(
    context: Context, row: Operation[Any, Any], asked: FollowOutcomes
) -> AsyncIterator[bytes]:  # fmt: skip
    """The outcome events of a call or runbook after a cursor, and what is still to come."""
    perdure = context.perdure
    cursor, follower = await perdure.feed.end(), OutcomeFollower(perdure.runtime, context.origin, asked)
    yield _outcomes_sent(await follower.read())
    async for batch in perdure.feed.follow(cursor, pulse_seconds=PULSE_SECONDS):
        if not batch:
            yield b""
        elif any(follower.stream.concerns(item.id) for item in batch):
            if any(item.id == asked.id for item in batch):  # steps of verbs that the key does not reach may be added
                await perform(context, row, replace(asked, limit=1))
            yield _outcomes_sent(await follower.read())


def _outcomes_sent(events: list[OutcomeEvent]) -> bytes:
    return b"".join(sent_event(each.cursor, each.event, each) for each in events)


def _stream(request: JsonRequest, principal: Principal, chunks: AsyncIterator[bytes]) -> EventStream:
    state = request.state
    scope = request.scope

    async def is_good() -> bool:
        found = await state.authenticator.identify(scope)
        return found is not None and (found.tenant, found.name) == (principal.tenant, principal.name)

    return EventStream(state.streams, principal, bounded(chunks, MOST_EVENTS), is_good)


async def feed_chunks(feed: Feed, after: str | None) -> AsyncIterator[bytes]:
    """The tenant's feed from a cursor on, or from now on: then it begins with the cursor of now."""
    if after is None:
        after = await feed.end()
        yield b"id: %s\n\n" % after.encode()  # who loses the connection before anything happens misses nothing
    async for batch in feed.follow(after, pulse_seconds=PULSE_SECONDS):
        yield b"".join(sent_event(item.cursor, item.entry, item) for item in batch)


async def journal_chunks(
    perdure: Perdure, id: str, journal: Journal, place: tuple[int, int]
) -> AsyncIterator[bytes]:  # fmt: skip
    """The journal of one thing, and what is still to come; the feed says when to look again."""
    cursor = await perdure.feed.end()
    async for chunk in _since(journal, place):
        place = chunk[1]
        yield chunk[0]
    async for batch in perdure.feed.follow(cursor, pulse_seconds=PULSE_SECONDS):
        if not batch:
            yield b""
        elif any(item.id == id for item in batch):
            async for chunk in _since(journal, place):
                place = chunk[1]
                yield chunk[0]


async def _since(journal: Journal, place: tuple[int, int]) -> AsyncIterator[tuple[bytes, tuple[int, int]]]:
    """Events after a place: a record, and how many of its events were seen (0: all)."""
    record, seen = place
    index, last = 0, 0
    async for event in journal(record - 1 if seen else record):
        index = index + 1 if event.sequence == last else 1
        last = event.sequence
        if event.sequence == record and index <= seen:
            continue
        yield sent_event(f"{event.sequence}.{index}", event.entry, event), (event.sequence, index)
