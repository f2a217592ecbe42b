"""The tail of the journal: read once by a process, however many follow it."""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

import msgspec

from perdure.app.lists.cursors import cursor_of
from perdure.errors import UnreadableFormError
from perdure.journal import Machine
from perdure.kernel.kernel import Kernel
from perdure.sources import id_text, iso
from perdure.store.ports import Driver, FeedRow
from perdure.store.store import Store

RECORDS_AT_ONCE = 200
KEPT_ITEMS = 8192
KEPT_ROUNDS = 256
"""What followers who are a little late find in memory; later ones read the store."""
POLL_SECONDS = 1.0
SOON_SECONDS = 0.05
"""A record may be held back a moment by a transaction of someone else who need not tell us when it ends."""
SECONDS_PER_FOLLOWER = 0.0001
LONGEST_PAUSE = 0.25
"""Many followers are told less often, of more at once."""
UNREADABLE = "Unreadable"

log = logging.getLogger("perdure")


class FeedItem(msgspec.Struct, frozen=True, gc=False):
    """One entry of the journal. `kind` is runbook, instance, process or access; `sequence` that of its record.

    `state` is that of what it belongs to when this was read: never older than the entry.
    """

    cursor: str
    id: str
    kind: str
    sequence: int
    at: str | None
    entry: str
    state: str


Place = tuple[int, int]
"""A record by its cursor in the journal, and how many of its entries have been seen."""
Placed = tuple[Place, FeedItem]
Waiting = asyncio.Future[tuple[int, bool]]
"""Told a position before which there was nothing, and whether there is something after it."""


class Round(msgspec.Struct, frozen=True, gc=False):
    """What one look at the journal found, for each tenant that is followed; `start` is where it began to look."""

    start: int
    end: int
    items: dict[str, list[Placed]]


class Tail:
    """Of one process. It looks only while somebody follows."""

    def __init__(self, kernel: Kernel, store: Store, driver: Driver, machines: Mapping[str, Machine[Any, Any, Any]]):
        self._kernel = kernel
        self._store = store
        self._driver = driver
        self._machines = machines
        self.end = 0
        self.is_closed = False
        self._rounds: list[Round] = []
        self._kept = 0
        self._since: dict[str, int] = {}
        self._followers: dict[str, int] = {}
        self._waiting: dict[str, set[Waiting]] = {}
        self._reading: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._is_listening = False

    @property
    def followers(self) -> int:
        return sum(self._followers.values())

    async def join(self, tenant: str) -> None:
        """Begin to look for a tenant's records, unless others follow it already."""
        self._followers[tenant] = self._followers.get(tenant, 0) + 1
        try:
            if self._reading is None:
                end = await self._store.feed_end()
                if self._reading is None:  # somebody else may have been faster
                    self._begin(end)
        except BaseException:
            self.leave(tenant)
            raise
        self._since.setdefault(tenant, self.end)

    def leave(self, tenant: str) -> None:
        self._followers[tenant] -= 1
        if not self._followers[tenant]:
            del self._followers[tenant]
            self._since.pop(tenant, None)
            self._waiting.pop(tenant, None)
        if not self._followers and self._reading is not None:
            self._reading.cancel()
            self._reading = None

    async def close(self) -> None:
        """Nobody is told anything any more; whoever follows comes to an end."""
        self.is_closed = True
        reading, self._reading = self._reading, None
        if reading is not None:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        for waiting in self._waiting.values():
            for future in waiting:
                self._time_is_up(future)

    def after(self, tenant: str, position: int) -> Round | None:
        """The round in memory that goes on from a position and tells all of a tenant."""
        place = bisect_right(self._rounds, position, key=lambda each: each.end)
        if place == len(self._rounds):
            return None
        found = self._rounds[place]
        return found if found.start <= position and self._since.get(tenant, found.end) <= found.start else None

    async def news(self, tenant: str, seconds: float | None) -> tuple[int, bool]:
        """Wait for a round that tells of a tenant: up to where there was nothing, and whether there is more now."""
        loop = asyncio.get_running_loop()
        future: Waiting = loop.create_future()
        waiting = self._waiting.setdefault(tenant, set())
        waiting.add(future)
        # A timer that settles the future, rather than a cancellation: between that and our turn a round could be lost.
        timer = loop.call_later(seconds, self._time_is_up, future) if seconds is not None else None
        try:
            return await future
        finally:
            waiting.discard(future)
            if timer is not None:
                timer.cancel()

    def _time_is_up(self, future: Waiting) -> None:
        if not future.done():
            future.set_result((self.end, False))

    # --- looking -------------------------------------------------------------------------------------------------

    def _begin(self, end: int) -> None:
        if not self._is_listening:
            self._is_listening = True
            self._kernel.listen(self._on_commit)
        self.end, self._rounds, self._kept, self._since = end, [], 0, {}
        self._reading = asyncio.get_running_loop().create_task(self._read_on())

    def _on_commit(self, aggregate: Any, entries: Any) -> None:
        if self._reading is not None:
            self._woken.set()

    async def _read_on(self) -> None:
        patience = SOON_SECONDS
        while True:
            self._woken.clear()
            try:
                is_new = await self._look()
            except Exception as error:  # whoever follows must not wait for a reader that is no more
                log.warning("the journal could not be followed and is looked at again: %s", error, exc_info=error)
                await asyncio.sleep(POLL_SECONDS)
                continue
            if is_new:
                patience = SOON_SECONDS
                await asyncio.sleep(min(self.followers * SECONDS_PER_FOLLOWER, LONGEST_PAUSE))
            else:
                await self._something(patience)
                patience = SOON_SECONDS if self._woken.is_set() else min(patience * 4, POLL_SECONDS)

    async def _look(self) -> bool:
        rows = await self._store.feed(self.end, RECORDS_AT_ONCE)
        if rows:
            items: dict[str, list[Placed]] = {}
            for row in rows:
                if row.tenant in self._followers:
                    items.setdefault(row.tenant, []).extend(self.items_of(row))
            self._publish(Round(self.end, rows[-1].cursor, items))
        return bool(rows)

    def items_of(self, row: FeedRow) -> list[Placed]:
        """What a record tells its tenant."""
        assert row.tenant is not None and row.kind is not None and row.status is not None
        at, names = self._entries(row)
        letters, scope = id_text(row.aggregate), feed_scope(row.tenant)
        found: list[Placed] = []
        for number, name in enumerate(names, 1):
            place = (row.cursor, number)
            cursor = cursor_of(scope, place)
            found.append((place, FeedItem(cursor, letters, row.kind, row.sequence, at, name, row.status)))
        return found

    def _entries(self, row: FeedRow) -> tuple[str | None, list[str]]:
        machine = self._machines.get(row.kind or "")
        try:
            if machine is None:
                return None, [UNREADABLE]
            record = machine.records.decode(row.body)
        except UnreadableFormError:
            return None, [UNREADABLE]  # one damaged record hides no other
        return iso(record.at), [type(entry).__name__ for entry in record.entries]

    def _publish(self, round: Round) -> None:
        self.end = round.end
        self._rounds.append(round)
        self._kept += _size(round)
        while len(self._rounds) > KEPT_ROUNDS or (self._kept > KEPT_ITEMS and len(self._rounds) > 1):
            self._kept -= _size(self._rounds.pop(0))
        for tenant in round.items:
            for future in self._waiting.get(tenant, ()):
                if not future.done():
                    future.set_result((round.start, True))

    async def _something(self, seconds: float) -> None:
        """This process committed, or another one may have."""
        woken = asyncio.ensure_future(self._woken.wait())
        changed = asyncio.ensure_future(self._driver.changed(seconds))
        try:
            await asyncio.wait({woken, changed}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            woken.cancel()
            changed.cancel()
            await asyncio.gather(woken, changed, return_exceptions=True)


def feed_scope(tenant: str) -> tuple[str, ...]:
    return ("feed", tenant)


def _size(round: Round) -> int:
    return sum(map(len, round.items.values()))
