"""What happens, as it happens: of the whole tenant, of a runbook, of a call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from litestar import Request, Response

from perdure.access.principal import Principal
from perdure.app import Perdure
from perdure.app.feed import FeedItem
from perdure.app.paging import Page
from perdure.app.views import EventView
from perdure.surfaces.http.following import feed_chunks, journal_answer, seen_before, stream_of, wants_stream
from perdure.surfaces.http.making import streaming
from perdure.surfaces.http.parameters import After, Id, Limit
from perdure.surfaces.http.reaching import check_every_verb

TAGS = ("events",)
AnyRequest = Request[Any, Any, Any]


@streaming("/events", "event.read", Page[FeedItem], tags=TAGS)
async def follow_events(
    perdure: Perdure, principal: Principal, request: AnyRequest, after: After = None, limit: Limit = 50
) -> Response[Any]:
    """Everything that happens, in order, without gaps: as `text/event-stream` from a cursor (`Last-Event-ID` or
    `after`) or from now on; else a page of what has happened."""
    cursor = seen_before(request, after)
    if not wants_stream(request):
        return Response(await perdure.feed.read(cursor, limit))
    if cursor is not None:
        await perdure.feed.read(cursor, 1)  # a cursor that leads nowhere is refused before anything is sent
    return stream_of(request, principal, feed_chunks(perdure, cursor))


@streaming("/runbooks/{id:str}/events", "runbook.read", Page[EventView], tags=TAGS)
async def follow_runbook(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, after: After = None, limit: Limit = 50
) -> Response[Any]:
    """The journal of a runbook, oldest first; as `text/event-stream` with what is still to come."""

    async def journal(record: int) -> AsyncIterator[EventView]:
        # Each time anew: verbs that the key does not reach may be added while somebody follows.
        await check_every_verb(perdure, principal, "runbook.read", id)
        async for event in perdure.runbooks.events(id, after=record):
            yield event

    return await journal_answer(request, perdure, principal, id, journal, after, limit)


@streaming("/calls/{id:str}/events", "call.read", Page[EventView], tags=TAGS)
async def follow_call(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, after: After = None, limit: Limit = 50
) -> Response[Any]:
    """The journal of a call, oldest first; as `text/event-stream` with what is still to come."""

    async def journal(record: int) -> AsyncIterator[EventView]:
        await check_every_verb(perdure, principal, "call.read", id)
        async for event in perdure.events(id, after=record):
            yield event

    return await journal_answer(request, perdure, principal, id, journal, after, limit)


ROUTES: tuple[Any, ...] = (follow_events, follow_runbook, follow_call)
