"""The carrier of an instance: its first record says whether an engine outside decides it, for good."""

from __future__ import annotations

from collections import OrderedDict

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.engines.embedded.ports import EngineStore
from perdure.kernel.kernel import Kernel
from perdure.sources import Id

MAX_REMEMBERED = 10_000
PLATFORM = "perdure"
MARK = "perdure:carrier/temporal"
"""The inbox row of a store that was once opened with an engine outside; its key names the store there."""


class InstanceCarriers:
    """What is known of instances that were asked for."""

    def __init__(self, kernel: Kernel, store: EngineStore) -> None:
        self._records = kernel.machine(INSTANCE).records
        self._store = store
        self._known: OrderedDict[bytes, str] = OrderedDict()

    async def of(self, id: Id) -> str:
        """The name of the engine that decides an instance; empty for our kernel, and for what is not there."""
        known = self._known.get(id)
        if known is not None:
            return known
        first = await self._store.records(id, 0, 1)
        if not first:
            return ""
        source = self._records.decode(first[0].body).source
        return self.remember(id, source.carrier if source is not None else "")

    def remember(self, id: Id, carrier: str) -> str:
        self._known[id] = carrier
        if len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)
        return carrier
