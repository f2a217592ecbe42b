"""The feed of a tenant: events as they are committed, from any cursor on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from copy import copy

from perdure.access.principal import EVERY_VERB
from perdure.access.verb_reach import may_read
from perdure.app.access.data_verbs import DataVerbs
from perdure.app.feed.journal_tail import RECORDS_AT_ONCE, FeedItem, Place, Placed, feed_scope
from perdure.app.lists.cursors import DEFAULT_LIMIT, Page, checked_limit, cursor_of, place_of
from perdure.app.runtime import Runtime
from perdure.errors import QuarantinedError, RejectedError, Rejection
from perdure.journal import Origin

__all__ = ["Feed", "FeedItem"]

MAX_READ = 1000
PAGES_LOOKED_AT = 20
"""A small tenant among large ones: how far one look goes through what belongs to others."""
WHOLE = 2**31
"""More entries than any record has."""


class Feed:
    """The journal of a tenant in the order of commits, entry by entry. Reached as `perdure.feed`.

    Who goes on from the cursor of the last item seen misses none and meets none twice, also after a crash of either
    side; on Postgres an item comes once every transaction that began before it is over.
    """

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._runtime = runtime
        self._origin = origin
        self._store = runtime.store
        self._tail = runtime.tail
        self._tenant = origin.tenant
        self._scope = feed_scope(origin.tenant)
        self._verbs: tuple[str, ...] = EVERY_VERB

    def seen_by(self, verbs: tuple[str, ...]) -> Feed:
        """The same for whose key reaches some verbs only: what happened to things of other verbs is left out."""
        made = copy(self)
        made._verbs = verbs
        return made

    async def end(self) -> str:
        """The cursor of now: who takes it before listing and follows from it misses nothing."""
        return cursor_of(self._scope, (await self._store.feed_end(), WHOLE))

    async def read(self, after: str | None = None, limit: int = DEFAULT_LIMIT) -> Page[FeedItem]:
        """Items after a cursor, without one from the first on. `next` is always there: whoever has all asks again."""
        place = await self._checked(after) if after is not None else (0, WHOLE)
        checked_limit(limit, MAX_READ)
        found: list[Placed] = []
        for _ in range(PAGES_LOOKED_AT):
            items, end = await self._stored(place)
            found.extend(await self._reached(items))
            if len(found) >= limit or end == place[0]:
                break
            place = (end, WHOLE)
            await asyncio.sleep(0)
        if len(found) > limit:
            found = found[:limit]
            place = found[-1][0]
        return Page([item for _, item in found], cursor_of(self._scope, place))

    async def follow(
        self, after: str | None = None, *, pulse_seconds: float | None = None
    ) -> AsyncIterator[list[FeedItem]]:
        """What comes after a cursor, from now on without one, until the store is closed.

        With `pulse_seconds` an empty batch comes when nothing else has for so long.
        """
        tail, tenant = self._tail, self._tenant
        place = await self._checked(after) if after is not None else None
        await tail.join(tenant)
        try:
            if place is None:
                place = (tail.end, WHOLE)
            while not tail.is_closed:
                items, place = await self._next(place, pulse_seconds)
                if items:
                    items = await self._reached_items(items) or None
                if items is not None:
                    yield items
        finally:
            tail.leave(tenant)

    async def _next(self, place: Place, pulse_seconds: float | None) -> tuple[list[FeedItem] | None, Place]:
        """A batch, or None where there was none to give, and the place after it."""
        tail, tenant, position = self._tail, self._tenant, place[0]
        is_between = place[1] >= WHOLE
        if is_between and (round := tail.after(tenant, position)) is not None:
            found = [item for at, item in round.items.get(tenant, ()) if at > place]
            return found or None, (round.end, WHOLE)
        if not is_between or position < tail.end:
            items, end = await self._stored(place)
            return [item for _, item in items] or None, (end, WHOLE)
        quiet_until, has_news = await tail.news(tenant, pulse_seconds)
        return None if has_news or tail.is_closed else [], (max(position, quiet_until), WHOLE)

    async def _stored(self, place: Place) -> tuple[list[Placed], int]:
        """Items after a place as far as one look goes, and the record it goes to."""
        position, seen = place
        # Of a record that was seen in part the rest is still to come.
        rows = await self._store.feed(position if seen >= WHOLE else position - 1, RECORDS_AT_ONCE)
        items = [each for row in rows if row.tenant == self._tenant for each in self._tail.items_of(row)]
        return [each for each in items if each[0] > place], rows[-1].cursor if rows else position

    async def _reached(self, items: list[Placed]) -> list[Placed]:
        kept = await self._reached_ids(item.id for _, item in items)
        return [each for each in items if each[1].id in kept]

    async def _reached_items(self, items: list[FeedItem]) -> list[FeedItem]:
        kept = await self._reached_ids(item.id for item in items)
        return [each for each in items if each.id in kept]

    async def _reached_ids(self, ids: Iterable[str]) -> set[str]:
        """Those whose data come from verbs that are reached. Each batch is looked at anew: a runbook may grow."""
        every = set(ids)
        return every if EVERY_VERB[0] in self._verbs else {id for id in every if await self._is_reached(id)}

    async def _is_reached(self, id: str) -> bool:
        try:
            return may_read(self._verbs, await DataVerbs(self._runtime, self._origin).of_id(id))
        except (QuarantinedError, RejectedError):
            return False  # gone or damaged: nobody knows which verbs its data came from

    async def _checked(self, after: str) -> Place:
        place = place_of(self._scope, after, tuple[int, int])
        if place[0] > await self._store.feed_end():
            fact = "this store has not come so far"
            hint = "It may have been restored from a backup: list anew and follow from there."
            raise RejectedError(Rejection("invalid", "go on from", "cursor", after[:80], fact, hint))
        return place
