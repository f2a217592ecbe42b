"""Stages of the case story: the embedded engine, Temporal's test server with virtual time, a real Temporal server.

| stage | time | killed by `restart` |
|---|---|---|
| embedded | moved | our process |
| Temporal's test server | moved | our process; the server forgets everything when it ends |
| a real Temporal server | passes | our process and the server |
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from temporalio.client import Client

from perdure.bpmn.machine.journal_entries import JobStarted
from perdure.durations import later, parse_span
from perdure.errors import PerdureError
from perdure.sources import Micros, SystemSources
from perdure.testing import Sandbox
from perdure.testing.fault_injection import Crash, FaultyDriver
from perdure.testing.sandbox import quiet_driver
from perdure.testing.scenarios.carried_time import CarriedTime
from perdure.testing.scenarios.temporal_time import PassingTime, ServerTime
from perdure.testing.temporal_server import TemporalServer
from perdure.testing.virtual_clock import VirtualSources
from tests.engines.case.case_story import Desk
from tests.examples.casebook import catalogue_of, example_handlers


class EmbeddedStage:
    """Our own engine on a store; what all stages share."""

    moves_time = True
    engine = "embedded"

    def __init__(self, store: str, kyc: Path, clock: VirtualSources | None = None) -> None:
        self.store = store
        self._kyc = kyc
        self._clock = clock or VirtualSources()
        self._sandbox: Sandbox | None = None
        self._driver: FaultyDriver | None = None
        self._others = asyncio.all_tasks()
        self.desk = Desk(example_handlers(kyc))

    @property
    def sandbox(self) -> Sandbox:
        assert self._sandbox is not None
        return self._sandbox

    async def open(self) -> None:
        self._driver = FaultyDriver(quiet_driver(self.store))
        self._sandbox = await Sandbox.start(
            self.store, definitions=catalogue_of(self._kyc), models=[self._kyc / "models"],
            handlers=self.desk.handlers, clock=self._clock, checks=(), driver=self._driver, engine=self.engine,
        )  # fmt: skip

    async def close(self) -> None:
        for task in list(self._clock.asleep):
            task.cancel()
        await self.sandbox.runtime.stop()

    async def rest(self) -> None:
        await self.sandbox.run_until_idle()

    async def advance(self, duration: str) -> None:
        await self.sandbox.advance(duration)

    async def restart(self, while_down: Callable[[], None]) -> None:
        await self._die()
        while_down()
        await self.open()

    async def _die(self) -> None:
        """Nothing is flushed and no lease is given back."""
        assert self._driver is not None
        self._driver.is_dead = True
        with suppress(Crash, PerdureError):
            await self.sandbox.runtime.engine.close()
        lost = [task for task in asyncio.all_tasks() if task not in {*self._others, asyncio.current_task()}]
        for task in lost:
            task.cancel()
        await asyncio.gather(*lost, return_exceptions=True)
        self.sandbox.runtime.router.close()
        await self._driver.drop()

    async def deliver_again(self, instance: str) -> None:
        """The commits that gave jobs to this worker are announced again."""
        engine: Any = self.sandbox.runtime.engine
        instances, origin = self.sandbox.runtime.instances, self.sandbox._origin
        for told in await instances.history(instance, origin):
            aggregate = await instances.read(instance, origin)
            for entry in told.entries:
                if isinstance(entry, JobStarted):
                    engine.workshop.begin(aggregate, entry)


class TemporalStage(EmbeddedStage):
    """A Temporal server, real or with virtual time."""

    def __init__(self, store: str, kyc: Path, server: TemporalServer, *, moves_time: bool) -> None:
        super().__init__(store, kyc, VirtualSources(int(SystemSources().random() * 2**53)))
        self.moves_time = moves_time
        self.engine = f"{server.url}?cache=0" if moves_time else server.url
        self._server = server
        self._time: CarriedTime | None = None

    async def open(self) -> None:
        time = ServerTime(await Client.connect(self._server.target)) if self.moves_time else PassingTime()
        self._clock.move_to(max(self._clock.now() if self._time else 0, await time.now()))
        await super().open()
        self._time = CarriedTime(self.sandbox, self._clock, time)

    async def rest(self) -> None:
        assert self._time is not None
        await self._time.idle()

    async def advance(self, duration: str) -> None:
        assert self._time is not None
        target: Micros = later(self._clock.now(), parse_span(duration))
        await self._time.advance_to(target)

    async def restart(self, while_down: Callable[[], None]) -> None:
        await self._die()
        if not self.moves_time:
            self._server.kill()
            self._server.start()
        while_down()
        await self.open()


@asynccontextmanager
async def on(stage: EmbeddedStage) -> AsyncIterator[EmbeddedStage]:
    await stage.open()
    try:
        yield stage
    finally:
        await stage.close()
