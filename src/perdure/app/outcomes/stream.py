"""The stream of outcome events of a call or runbook: read from several journals, in the order of commits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from heapq import heappop, heappush
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from perdure.app.calls.call_journal import read
from perdure.app.calls.outcome_wait import is_ended
from perdure.app.lists.cursors import place_of
from perdure.app.outcomes.event_table import OutcomeEvent
from perdure.app.outcomes.projection import Projection, outcome_scope
from perdure.app.runtime import Runtime
from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.journal_entries import InstanceMigrated, InstanceStarted
from perdure.errors import RejectedError
from perdure.journal import Origin, Record
from perdure.kernel.kernel import Aggregate
from perdure.processes.plan_cache import Definition
from perdure.runbooks.executor.call_executor import KIND
from perdure.sources import Id, id_text, parse_id

POLL_SECONDS = 1.0
SETTLES_SECONDS = 0.02
SETTLING_TURNS = 50
"""A record may be held back a moment by a transaction of someone else; so often it is looked for again."""

Place = tuple[int, int]
"""A record by its cursor in the feed, and how many of its events have been seen."""
Waiting = list[tuple[int, Id, Record[Any]]]
"""Records of several journals, the first committed first."""


class OutcomeStream:
    """The events of one call or runbook, as far as they were read; `advance` reads on."""

    def __init__(self, runtime: Runtime, origin: Origin, id: Id) -> None:
        self._runtime = runtime
        self._origin = origin
        self._definitions: dict[bytes, Definition | None] = {}
        self._sequences: dict[Id, int] = {}
        self._root = id
        self._projection = Projection(id, origin.tenant, lambda _, hash: self._definitions.get(hash))
        self.is_whole = False
        """Whether all that the journal held when it was last looked at has been read, and nothing more will come."""
        self.lags = False
        """Whether records are there that cannot be told yet, since others may come to stand before them."""

    def concerns(self, id: str) -> bool:
        """Whether what happens to this id may give events of the stream."""
        return id == id_text(self._root) or any(id == id_text(each) for each in self._projection.carriers)

    async def advance(self, upto: int | None = None) -> list[OutcomeEvent]:
        """Events committed since the last look, up to a cursor of the feed."""
        store = self._runtime.store
        horizon = await store.feed_end() if upto is None else upto
        waiting: Waiting = []
        root = await read(self._runtime, self._origin, id_text(self._root))
        await self._collect(root, horizon, waiting)
        self.lags = self._sequences.get(self._root, 0) < root.version
        known = {self._root}
        for id in list(self._projection.carriers):
            known.add(id)
            await self._look(id, horizon, waiting)
        found: list[OutcomeEvent] = []
        while waiting:
            place, chain, record = heappop(waiting)
            await self._learn(record)
            for event, result in self._projection.add(chain, place, record):
                found.append(await self._valued(event, result, root))
            for id in self._projection.carriers.keys() - known:  # begun by what was just read, so none came before it
                known.add(id)
                await self._look(id, horizon, waiting)
        self.is_whole = is_ended(root) and not self.lags
        return found

    async def _look(self, id: Id, horizon: int, waiting: Waiting) -> None:
        try:
            instance = await self._runtime.instances.read(id, self._origin)
        except RejectedError:
            return  # it is still to be begun
        await self._collect(instance, horizon, waiting)
        self.lags = self.lags or self._sequences.get(id, 0) < instance.version

    async def _collect(self, chain: Aggregate, horizon: int, waiting: Waiting) -> None:
        """The records of a journal that nothing can come to stand before, checked by their chain."""
        store, after = self._runtime.store, self._sequences.get(chain.id, 0)
        codec = self._runtime.machines[KIND if chain.id == self._root else INSTANCE].records
        rows = [row async for row in store.history(chain, after)]
        places = dict(await store.places(chain.id, after, len(rows))) if rows else {}
        for row in rows:
            place = places.get(row.sequence)
            if place is None or place > horizon:
                return
            heappush(waiting, (place, chain.id, codec.decode(row.body)))
            self._sequences[chain.id] = row.sequence

    async def _learn(self, record: Record[Any]) -> None:
        """The names of the elements that a record speaks of."""
        for entry in record.entries:
            if isinstance(entry, InstanceStarted | InstanceMigrated) and entry.definition not in self._definitions:
                self._definitions[entry.definition] = await self._runtime.definitions.stored(
                    entry.process, entry.definition, self._origin.tenant
                )

    async def _valued(self, event: OutcomeEvent, result: bytes, root: Aggregate) -> OutcomeEvent:
        if not result or root.state.erased_at:
            return event
        data = await self._runtime.store.payload(root.id, result)
        return event if data is None else replace(event, result=msgspec.json.decode(data))


class Asked(Protocol):
    """Whose events are asked for: of one step or of all (0), and after which cursor."""

    @property
    def id(self) -> str: ...
    @property
    def step(self) -> int: ...
    @property
    def after(self) -> str | None: ...


class OutcomeFollower:
    """One reader of a stream: the events that were asked for, each once."""

    def __init__(self, runtime: Runtime, origin: Origin, asked: Asked) -> None:
        self.stream = OutcomeStream(runtime, origin, parse_id(asked.id))
        self._scope, self._step = outcome_scope(origin.tenant), asked.step
        self._after: Place = place_of(self._scope, asked.after, tuple[int, int]) if asked.after else (0, 0)

    async def read(self) -> list[OutcomeEvent]:
        """Events since the last look; the first look waits for those that are about to settle."""
        found = self._wanted(await self.stream.advance())
        for _ in range(SETTLING_TURNS):
            if not self.stream.lags:
                break
            await asyncio.sleep(SETTLES_SECONDS)
            found += self._wanted(await self.stream.advance())
        return found

    def _wanted(self, events: list[OutcomeEvent]) -> list[OutcomeEvent]:
        return [each for each in events if self._step in (0, each.step) and self._place(each) > self._after]

    def _place(self, event: OutcomeEvent) -> Place:
        return place_of(self._scope, event.cursor, tuple[int, int])


async def outcome_events(
    runtime: Runtime, origin: Origin, asked: Asked, *, follow: bool = False
) -> AsyncIterator[OutcomeEvent]:
    """The events of a call or runbook after a cursor, oldest first, of one step or of all.

    With `follow`, what is still to come as well until it ends. Without, all that is committed when it is asked for,
    except what a transaction of someone else keeps from settling for longer than a second.
    """
    follower = OutcomeFollower(runtime, origin, asked)
    while True:
        for event in await follower.read():
            yield event
        if not follow or follower.stream.is_whole:
            return
        await runtime.driver.changed(POLL_SECONDS)
