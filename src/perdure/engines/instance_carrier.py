"""The carrier of an instance: its first record names the engine outside that decides it, until it is moved."""

from __future__ import annotations

from collections import OrderedDict

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.engines.embedded.ports import EngineStore
from perdure.kernel.kernel import Kernel
from perdure.kernel.ports import APPLIED, Attachments, InboxRow, Unit
from perdure.sources import Id, Sources, id_text

EMBEDDED = "embedded"
MAX_REMEMBERED = 10_000
PLATFORM = "perdure"
MARK = "perdure:carrier/temporal"
CAMUNDA_MARK = "perdure:carrier/camunda"
MARKS = (MARK, CAMUNDA_MARK)
"""The inbox rows of a store that was once opened with an engine outside; the key of one names the store there."""


async def mark_store(store: EngineStore, mark: str, sources: Sources) -> str:
    """The name that a store has outside, made when it is first opened with such an engine."""
    for _ in range(2):
        known = await store.message(PLATFORM, mark)
        if known is not None:
            return known.key
        now, carrier = sources.now(), mark.rpartition("/")[2]
        row = InboxRow(PLATFORM, mark, "carrier", id_text(sources.new_id()), now, APPLIED, carrier, None, None)
        await store.commit(Unit(PLATFORM, None, attachments=[Attachments(inbox=row)], at=now))
    raise AssertionError("the mark of the store was written and is not there")


async def is_marked(store: EngineStore) -> bool:
    """Whether the store was ever opened with an engine outside."""
    return any([await store.message(PLATFORM, mark) is not None for mark in MARKS])


class InstanceCarriers:
    """What is known of instances that were asked for."""

    def __init__(self, kernel: Kernel, store: EngineStore) -> None:
        self._machine = kernel.machine(INSTANCE)
        self._records = self._machine.records
        self._store = store
        self._known: OrderedDict[bytes, str] = OrderedDict()

    async def of(self, id: Id) -> str:
        """The name of the engine outside that decides an instance; empty for our kernel, and for what is not there."""
        known = self._known.get(id)
        if known is not None:
            return known
        return await self.look(id)

    def known(self, id: Id) -> str | None:
        """The same from memory; None where that says nothing."""
        return self._known.get(id)

    async def look(self, id: Id) -> str:
        """The same as stored now: another process may have moved it."""
        stored = await self._store.load(id)
        moved = self._machine.decode(stored.state).carrier if stored is not None and stored.kind == INSTANCE else ""
        if moved:
            return self.remember(id, "" if moved == EMBEDDED else moved)
        first = await self._store.records(id, 0, 1)
        if not first:
            return ""
        source = self._records.decode(first[0].body).source
        return self.remember(id, source.carrier if source is not None else "")

    async def is_of_another(self, id: Id, engine: str) -> bool:
        """Whether our journal has an instance, and another engine decides it."""
        if await self.of(id) == engine:
            return False
        return await self._store.load(id) is not None and await self.look(id) != engine

    def remember(self, id: Id, carrier: str) -> str:
        self._known[id] = carrier
        if len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)
        return carrier
