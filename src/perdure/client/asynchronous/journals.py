"""Journals, pages and waits of a server: what happened, what is still to come, and until something has come so far."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from perdure.app.calls.views import EventView
from perdure.app.lists.cursors import Page
from perdure.app.operations.events import FollowJournal
from perdure.app.operations.operation import A, Operation, R
from perdure.client.asynchronous.transport import Transport, placed
from perdure.sources import SECOND

T = TypeVar("T")
SLICE_SECONDS = 20.0
"""How long one request waits; the next one goes on waiting."""
MOST = 200
Journal = Operation[FollowJournal, Page[EventView]]


async def wait_for(
    transport: Transport, operation: Operation[R, A], request: R, until: str, timeout_seconds: float | None
) -> A:
    """Until it has come so far, or the time is up. The server holds the answer back: nobody has to ask often."""
    now = transport.sources.now
    began = now()
    while True:
        asked = now()
        left = SLICE_SECONDS
        if timeout_seconds is not None:
            left = max(0.0, min(left, timeout_seconds - (asked - began) / SECOND))
        view = await transport.ask(operation, replace(request, until=until, timeout_seconds=left))
        # An answer before its time says that it has come so far.
        if (now() - asked) / SECOND < left or (
            timeout_seconds is not None and now() - began >= timeout_seconds * SECOND
        ):
            return view


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


async def follow_journal(
    transport: Transport, operation: Journal, show: Operation[R, A], subject: R, after: int,
    is_ended: Callable[[A], bool],
) -> AsyncIterator[EventView]:  # fmt: skip
    """The journal and what is still to come, until it has ended; through however many connections, each event once."""
    view: Any = await transport.ask(show, subject)
    record, seen, id = min(after, view.sequence), 0, view.id
    path, _ = placed(operation, FollowJournal(id))
    if not is_ended(view):
        async for events in transport.stream(path, str(record)):
            for sent in events:
                if not sent.data:
                    continue
                event = msgspec.json.decode(sent.data, type=EventView)
                record, seen = event.sequence, int(sent.id.partition(".")[2] or 0)
                yield event
            # Only what is newer than what is known can have ended it.
            if record >= view.sequence:
                view = await transport.ask(show, subject)
            if is_ended(view):
                break
    async for event in journal(transport, operation, id, record, seen):
        yield event


async def pages(
    transport: Transport, kind: type[T], operation: Operation[R, Any], request: R, limit: int, cursor: str | None = None
) -> AsyncIterator[T]:
    """The items of a list, page by page, as many as are wanted."""
    while limit > 0:
        asked = replace(request, limit=min(limit, MOST), after=cursor)
        page: Page[T] = await transport.ask_for(Page[kind], operation, asked)  # type: ignore[valid-type]
        for item in page.items:
            yield item
        limit -= len(page.items)
        cursor = page.next
        if cursor is None:
            return
