"""Following what happens: the whole tenant's feed, or the journal of one thing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from litestar import Request, Response

from perdure.access.principal import Principal
from perdure.app import Perdure
from perdure.app.paging import Page
from perdure.app.views import EventView
from perdure.errors import RejectedError, Rejection
from perdure.surfaces.http.streams import MEDIA, PULSE_SECONDS, EventStream, sent_event

AnyRequest = Request[Any, Any, Any]
Journal = Callable[[int], AsyncIterator[EventView]]
"""The events of one thing after a record of its journal."""


def wants_stream(request: AnyRequest) -> bool:
    return MEDIA in request.headers.get("accept", "")


def seen_before(request: AnyRequest, after: str | None) -> str | None:
    """Where to go on: a browser that comes back says so itself, and its address is older than that."""
    return request.headers.get("last-event-id") or after or None


def stream_of(request: AnyRequest, principal: Principal, chunks: AsyncIterator[bytes]) -> EventStream:
    state = request.app.state
    scope = request.scope

    async def is_good() -> bool:
        found = await state.authenticator.identify(scope)
        return found is not None and (found.tenant, found.name) == (principal.tenant, principal.name)

    return EventStream(state.streams, principal, chunks, is_good)


async def feed_chunks(perdure: Perdure, after: str | None) -> AsyncIterator[bytes]:
    """The tenant's feed from a cursor on, or from now on: then it begins with the cursor of now."""
    if after is None:
        after = await perdure.feed.end()
        yield b"id: %s\n\n" % after.encode()  # who loses the connection before anything happens misses nothing
    async for batch in perdure.feed.follow(after, pulse_seconds=PULSE_SECONDS):
        yield b"".join(sent_event(item.cursor, item.entry, item) for item in batch)


async def journal_answer(
    request: AnyRequest, perdure: Perdure, principal: Principal, id: str, journal: Journal, after: str | None,
    limit: int,
) -> Response[Any]:  # fmt: skip
    """A page of a journal; as a stream where that is asked for, and then what is still to come as well."""
    place = _place(seen_before(request, after))
    if wants_stream(request):
        await anext(aiter(journal(0)))  # what is not there is refused before anything is sent
        return stream_of(request, principal, journal_chunks(perdure, id, journal, place))
    return Response(await journal_page(journal, place[0], limit))


async def journal_page(journal: Journal, after: int, limit: int) -> Page[EventView]:
    """Some events; those of one record are never parted."""
    found: list[EventView] = []
    async for event in journal(after):
        if len(found) >= limit and event.sequence != found[-1].sequence:
            return Page(found, str(found[-1].sequence))
        found.append(event)
    return Page(found, None)


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


def _place(text: str | None) -> tuple[int, int]:
    record, _, seen = (text or "0").partition(".")
    if not (record.isascii() and record.isdigit() and len(record) < 16 and (not seen or seen.isdigit())):
        hint = "Use the `next` of a page, or the id of an event."
        raise RejectedError(Rejection("invalid", "go on from", "event", str(text)[:80], "it is none", hint))
    return int(record), int(seen[:9] or 0) if seen.isascii() else 0
