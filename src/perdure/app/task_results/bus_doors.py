"""The doors of brokers: a worker runs one consumer for each source that `bus.task_results` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from perdure.app.task_results.result_intake import Sender
from perdure.buses.bus import Consumer, Delivery
from perdure.buses.bus_settings import ResultSource
from perdure.buses.delivery_loop import DeliveryLoop
from perdure.buses.delivery_outcome import Taken
from perdure.errors import BusUnavailableError
from perdure.lifecycles.instances import TASK_RESULT
from perdure.sources import fresh_secret
from perdure.work.dead_letter_limit import MOST_LETTERS

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime


class SourceStatus(msgspec.Struct, frozen=True):
    """A source of task results: how much waits there, and why nothing is taken in."""

    name: str
    group: str
    lag: int | None
    trouble: str = ""


class BusStatus(msgspec.Struct, frozen=True):
    """All sources of task results, rows of the queue that wait, and dead letters of results; counts end at 10,000."""

    sources: list[SourceStatus]
    queued: int
    parked: int


class BusDoors:
    """The consumers of one worker; started after its runtime, stopped before it."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._loops = [self.loop(each) for each in runtime.buses.settings.results]

    def start(self) -> None:
        for each in self._loops:
            each.start()

    async def stop(self) -> None:
        for each in self._loops:
            await each.stop()

    def loop(self, source: ResultSource) -> DeliveryLoop:
        """The loop of one source, not yet started."""
        results = self._runtime.results
        sender = Sender(f"bus:{source.name}", source.tenant, source.principal or f"bus:{source.broker}", source.verbs)
        member = f"perdure-{fresh_secret(6).hex()}"  # one that no other process, and no other start of this one, has

        async def join() -> Consumer:
            bus = await self._runtime.buses.get(source.broker)
            return await bus.consume(source.source, source.group, member, source.claim_seconds)

        async def take(delivery: Delivery) -> Taken:
            return await results.take(delivery.body, sender)

        async def park(delivery: Delivery, reason: str) -> None:
            await results.park(delivery.body, sender, delivery.place, reason)

        return DeliveryLoop(source.name, join, take, park, self._runtime.sources, source.max_tries)

    async def measure(self) -> None:
        """Set the gauges of all sources."""
        metrics = self._runtime.measure()
        paused = {each.name: each.paused for each in self._loops}
        for each in await statuses(self._runtime):
            metrics.bus_source(each.name, each.lag, bool(each.trouble or paused.get(each.name)))


async def status_of(runtime: Runtime, tenant: str) -> BusStatus:
    """How far task results have come, for one tenant."""
    letters = await runtime.store.dead_letters(tenant, MOST_LETTERS)
    parked = sum(each.kind == TASK_RESULT for each in letters)
    return BusStatus(await statuses(runtime), await runtime.store.task_results.count(MOST_LETTERS), parked)


async def statuses(runtime: Runtime) -> list[SourceStatus]:
    """Every source that the project names, as its broker sees it."""
    return [await _status(runtime, each) for each in runtime.buses.settings.results]


async def _status(runtime: Runtime, source: ResultSource) -> SourceStatus:
    try:
        bus = await runtime.buses.get(source.broker)
        return SourceStatus(source.name, source.group, await bus.lag(source.source, source.group))
    except BusUnavailableError as error:
        return SourceStatus(source.name, source.group, None, str(error))
