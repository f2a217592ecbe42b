"""Running work: instances and runbooks that have not ended, newest first, up to a bound that is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.state import ENDED
from perdure.errors import QuarantinedError, RejectedError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.sources import Id
from perdure.store.lists import AFTER_IDS, NEWEST

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

MAX_INSTANCES = 10_000
MAX_RUNBOOKS = 10_000
PAGE = 200
OPEN_INSTANCES = ("active", "suspended", "compensating")
OPEN_RUNBOOKS = ("ready", "executing", "parked", "escalated")


class RunningWork:
    """What runs for one tenant. `bounds` and `damaged` are known once it was read."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._runtime, self._origin = runtime, origin
        self.bounds: list[str] = []
        self.damaged: Counter[str] = Counter()
        """Aggregates by their kind that cannot be read."""

    async def instances(self, process: str = "") -> list[Aggregate]:
        """Instances that have not ended, of one process or of all."""
        found: list[Aggregate] = []
        for status in OPEN_INSTANCES:
            async for id in self._instance_ids(status):
                if len(found) == MAX_INSTANCES:
                    told = f" of '{process}'" if process else ""
                    self.bounds.append(f"only the newest {MAX_INSTANCES:,} running instances{told} were looked at")
                    return found
                aggregate = await self._read(id, INSTANCE)
                if aggregate is not None and process in ("", aggregate.state.process):
                    found.append(aggregate)
        return found

    async def runbooks(self) -> list[Aggregate]:
        """Calls and runbooks that have not ended."""
        found: list[Aggregate] = []
        for is_plan in (True, False):
            for status in OPEN_RUNBOOKS:
                async for id in self._runbook_ids(is_plan, status):
                    if len(found) == MAX_RUNBOOKS:
                        self.bounds.append(f"only {MAX_RUNBOOKS:,} running calls and runbooks were looked at")
                        return found
                    if (aggregate := await self._read(id, "runbook")) is not None:
                        found.append(aggregate)
        return found

    async def _instance_ids(self, status: str) -> AsyncIterator[Id]:
        before: bytes = AFTER_IDS
        while rows := await self._runtime.store.lists.instances(self._origin.tenant, INSTANCE, status, before, PAGE):
            for row in rows:
                yield row.id
            before = rows[-1].id

    async def _runbook_ids(self, is_plan: bool, status: str) -> AsyncIterator[Id]:
        before = NEWEST
        while rows := await self._runtime.store.lists.runbooks(self._origin.tenant, is_plan, status, before, PAGE):
            for row in rows:
                yield row.id
            before = rows[-1].number

    async def _read(self, id: Id, kind: str) -> Aggregate | None:
        """An aggregate that still runs; None of one that has ended meanwhile, or cannot be read."""
        try:
            aggregate = await self._runtime.kernel.read(id, self._origin)
        except QuarantinedError:
            self.damaged[kind] += 1
            return None
        except RejectedError:
            return None
        return None if kind == INSTANCE and aggregate.state.status in ENDED else aggregate
