"""Lists, a page at a time, and what happens in a tenant as it happens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal

import msgspec

from perdure.app.feed.feed import FeedItem
from perdure.app.incidents import StuckView
from perdure.app.lists.cursors import DEFAULT_LIMIT, Page
from perdure.app.lists.views import DeadLetterItem, InstanceRow, ParkedItem, RunbookRow
from perdure.app.operations import calls, dead_letters, events, incidents, instances, runbooks, tasks, waits
from perdure.app.operations.calls import ListCalls
from perdure.app.operations.dead_letters import ListLetters
from perdure.app.operations.events import FollowFeed
from perdure.app.operations.incidents import ListIncidents
from perdure.app.operations.instances import ListInstances
from perdure.app.operations.runbooks import ListRunbooks
from perdure.app.operations.tasks import ListTasks
from perdure.app.operations.waits import ListParked
from perdure.app.tasks.views import TaskView
from perdure.client.asynchronous.transport import Transport
from perdure.client.server_views import index_text

RunbookKind = Literal["runbooks", "calls", "all"]


class Listing:
    """Reached as `client.listing`. Newest first, except where it says otherwise."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def runbooks(
        self, *, state: str = "", case: str = "", q: str = "", kind: RunbookKind = "runbooks",
        limit: int = DEFAULT_LIMIT, after: str | None = None,
    ) -> Page[RunbookRow]:  # fmt: skip
        """Runbooks and drafts, calls, or both; `q` is the beginning of a case, an indexed value or an id."""
        request = ListRunbooks(state, case, q, kind, limit, after)
        return await self._transport.ask_for(Page[RunbookRow], runbooks.list_runbooks, request)

    async def calls(
        self, *, verb: str = "", where: Mapping[str, Any] | None = None, state: str = "", limit: int = DEFAULT_LIMIT,
        after: str | None = None,
    ) -> Page[RunbookRow]:  # fmt: skip
        """Calls of a verb, those with these values of its declared `index`; without values, or a verb, all of them."""
        fields = [f"{name}:{index_text(value)}" for name, value in (where or {}).items()]
        return await self._transport.ask(calls.list_calls, ListCalls(verb, fields, state, "", limit, after))

    async def instances(
        self, *, process: str = "", state: str = "", business_key: str = "", limit: int = DEFAULT_LIMIT,
        after: str | None = None,
    ) -> Page[InstanceRow]:  # fmt: skip
        """Instances of one process, in one state, of one business key, or all of them."""
        request = ListInstances(process, state, business_key, limit, after)
        return await self._transport.ask_for(Page[InstanceRow], instances.list_instances, request)

    async def parked(self, *, limit: int = DEFAULT_LIMIT, after: str | None = None) -> Page[ParkedItem]:
        """What calls and runbooks wait for, oldest first."""
        return await self._transport.ask(waits.list_parked, ListParked(limit, after))

    async def incidents(self, *, limit: int = DEFAULT_LIMIT, after: str | None = None) -> Page[StuckView]:
        """What is stuck, oldest first, with its cause and the actions that whom the key stands for may take."""
        return await self._transport.ask(incidents.list_incidents, ListIncidents(limit, after))

    async def dead_letters(self, *, limit: int = DEFAULT_LIMIT, after: str | None = None) -> Page[DeadLetterItem]:
        """What could not be delivered, oldest first."""
        return await self._transport.ask(dead_letters.list_letters, ListLetters(limit, after))

    async def tasks(
        self, *, mine: bool = False, assignee: str = "", group: str = "", unclaimed: bool = False,
        overdue: bool = False, state: str = "", limit: int = DEFAULT_LIMIT, after: str | None = None,
    ) -> Page[TaskView]:  # fmt: skip
        """Open human tasks, oldest first; `state` is open or claimed, the rest as for `client.tasks.list`."""
        request = ListTasks(mine, assignee, group, unclaimed, overdue, state, limit, after)
        return await self._transport.ask(tasks.list_tasks, request)


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
            items = [msgspec.json.decode(each.data, type=FeedItem) for each in sent if each.data]
            if items or (pulse_seconds is not None and not any(each.id for each in sent)):
                yield items
