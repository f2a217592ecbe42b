"""Operations on journals: what happened to a tenant, a call, a runbook or an instance, a page at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from msgspec import Meta

from perdure.app.calls.views import EventView
from perdure.app.feed.feed import FeedItem
from perdure.app.lists.cursors import Page
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import After, Id, Limit
from perdure.app.operations.verb_scopes import EVERY_VERB_INSIDE, EVERY_VERB_OF_ID, REDACTED, VERBS_OF_INSTANCE
from perdure.app.outcomes.event_table import OutcomeEvent
from perdure.errors import RejectedError, Rejection

TAG = "events"


class FollowFeed(Request, frozen=True):
    """A cursor of the tenant's feed."""

    after: After = None
    limit: Limit = 50


class FollowJournal(Request, frozen=True):
    """A call, a runbook or an instance, and a place in its journal."""

    id: Id
    after: After = None
    limit: Limit = 50


class FollowOutcomes(Request, frozen=True):
    """A call or a runbook, one of its steps or all (0), and the cursor of the last event that was seen."""

    id: Id
    step: Annotated[int, Meta(ge=0)] = 0
    after: After = None
    limit: Limit = 50


@operation("event.read", Route("GET", "/events"), tag=TAG, scope=REDACTED)
async def follow_events(context: Context, request: FollowFeed) -> Page[FeedItem]:
    """Everything that happens, in order, without gaps: as `text/event-stream` from a cursor (`Last-Event-ID` or
    `after`) or from now on; else a page of what has happened. A key is told what happens to things whose data come from
    verbs that it reaches."""
    return await context.feed.read(request.after or None, request.limit)


@operation("runbook.read", Route("GET", "/runbooks/{id}/events"), tag=TAG, scope=EVERY_VERB_OF_ID)
async def follow_runbook(context: Context, request: FollowJournal) -> Page[EventView]:
    """The journal of a runbook, oldest first; as `text/event-stream` with what is still to come."""
    record, _ = place_in_journal(request.after)
    return await _page(context.perdure.runbooks.events(request.id, after=record), request.limit)


@operation("call.read", Route("GET", "/calls/{id}/events"), tag=TAG, scope=EVERY_VERB_OF_ID)
async def follow_call(context: Context, request: FollowJournal) -> Page[EventView]:
    """The journal of a call, oldest first; as `text/event-stream` with what is still to come."""
    record, _ = place_in_journal(request.after)
    return await _page(context.perdure.events(request.id, after=record), request.limit)


@operation("instance.read", Route("GET", "/instances/{id}/events"), tag="instances", scope=VERBS_OF_INSTANCE)
async def follow_instance(context: Context, request: FollowJournal) -> Page[EventView]:
    """The journal of an instance, oldest first; as `text/event-stream` with what is still to come."""
    record, _ = place_in_journal(request.after)
    return await _page(context.perdure.instances.events(request.id, after=record), request.limit)


@operation("call.read", Route("GET", "/calls/{id}/outcome-events"), tag=TAG, scope=EVERY_VERB_INSIDE)
async def follow_call_outcomes(context: Context, request: FollowOutcomes) -> Page[OutcomeEvent]:
    """The outcome events of a call, oldest first: started, parked and for what, resumed, escalated, stuck, ended.

    As `text/event-stream` with what is still to come. They are read from the journals of the call and of the process
    that carries it.
    """
    return await _outcomes(context, request)


@operation("runbook.read", Route("GET", "/runbooks/{id}/outcome-events"), tag=TAG, scope=EVERY_VERB_INSIDE)
async def follow_runbook_outcomes(context: Context, request: FollowOutcomes) -> Page[OutcomeEvent]:
    """The outcome events of the steps of a runbook, oldest first; as `text/event-stream` with what is still to come."""
    return await _outcomes(context, request)


async def _outcomes(context: Context, request: FollowOutcomes) -> Page[OutcomeEvent]:
    found: list[OutcomeEvent] = []
    events = context.perdure.outcome_events(request.id, after=request.after or "", step=request.step)
    async for event in events:
        if len(found) == request.limit:
            return Page(found, found[-1].cursor)
        found.append(event)
    return Page(found)


async def _page(events: AsyncIterator[EventView], limit: int) -> Page[EventView]:
    """Some events; those of one record are never parted."""
    found: list[EventView] = []
    async for event in events:
        if len(found) >= limit and event.sequence != found[-1].sequence:
            return Page(found, str(found[-1].sequence))
        found.append(event)
    return Page(found, None)


def place_in_journal(text: str | None) -> tuple[int, int]:
    """A record of a journal, and how many of its events were seen (0: all)."""
    record, _, seen = (text or "0").partition(".")
    if not (record.isascii() and record.isdigit() and len(record) < 16 and (not seen or seen.isdigit())):
        hint = "Use the `next` of a page, or the id of an event."
        raise RejectedError(Rejection("invalid", "go on from", "event", str(text)[:80], "it is none", hint))
    return int(record), int(seen[:9] or 0) if seen.isascii() else 0
