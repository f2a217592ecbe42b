"""Gauges, read from the store at a scrape: bounded, and at most every few seconds."""

from __future__ import annotations

from typing import Any

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.errors import PerdureError
from perdure.human_tasks import HumanTask
from perdure.journal import Origin
from perdure.kernel.kernel import Kernel
from perdure.runbooks.machine.human_tasks import PLACE
from perdure.sources import SECOND, Id, Micros, Sources
from perdure.store.gauges import Counted, Gauges
from perdure.store.store import Store
from perdure.telemetry.metrics import Readings

FRESH: Micros = 5 * SECOND
MOST = 10_000
TASKS_READ = 100
_COUNTED: tuple[Counted, ...] = ("jobs", "incidents", "dead", "tasks", "quarantined")


class GaugeReader:
    """Reads once for all who ask within a few seconds."""

    def __init__(self, store: Store, kernel: Kernel, sources: Sources) -> None:
        self._store = store
        self._gauges = Gauges(store.driver)
        self._kernel = kernel
        self._sources = sources
        self._read_at: Micros | None = None
        self._last = Readings()

    async def read(self) -> Readings:
        now = self._sources.now()
        if self._read_at is None or not 0 <= now - self._read_at < FRESH:
            self._last = await self._fresh(now)
            self._read_at = now
        return self._last

    async def _fresh(self, now: Micros) -> Readings:
        counts = {name: await self._gauges.count(name, MOST) for name in _COUNTED}
        workers = [each for each in await self._store.live_workers() if not each.is_lapsed]
        oldest, overdue = await self._tasks(now)
        return Readings(
            counts["jobs"], counts["incidents"], counts["dead"], len(workers),
            counts["tasks"], overdue, oldest, tuple(await self._gauges.waits(MOST)), counts["quarantined"],
            await self._store.task_results.count(MOST),
        )  # fmt: skip

    async def _tasks(self, now: Micros) -> tuple[float, int]:
        """The age of the oldest open human task, and how many of the oldest are past their due time."""
        oldest, overdue = 0.0, 0
        for id, tenant, step, token in await self._gauges.oldest_tasks(TASKS_READ, MOST):
            opened_at, task = await self._task(id, tenant, step, token)
            if opened_at:
                oldest = max(oldest, (now - opened_at) / SECOND)
            if task is not None and task.due_at and task.due_at < now:
                overdue += 1
        return oldest, overdue

    async def _task(self, id: Id, tenant: str, step: int, token: int) -> tuple[Micros, HumanTask | None]:
        try:
            aggregate = await self._kernel.recall(id, Origin(tenant))
        except PerdureError:
            return 0, None  # set aside, or gone since: others are still counted
        if aggregate.kind == INSTANCE:
            node = aggregate.state.nodes.get(step)
            return (node.at, node.task) if node is not None else (0, None)
        return _of_step(aggregate.state.steps, step, token)


def _of_step(steps: Any, number: int, token: int) -> tuple[Micros, HumanTask | None]:
    if number > len(steps):
        return 0, None
    step = steps[number - 1]
    if token < PLACE:  # a gate
        return (step.links.gated_at if step.links is not None else 0), None
    position = token - PLACE
    if position > len(step.tokens):
        return 0, None
    parked = step.tokens[position - 1]
    return parked.parked_at, parked.task
