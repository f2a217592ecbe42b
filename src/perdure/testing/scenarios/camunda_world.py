"""Camunda as a world: the platform with `engine: camunda://`, on a real broker whose clock is moved."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import HTTPError

from perdure.bpmn.model import Model
from perdure.durations import later, parse_span
from perdure.errors import PerdureError
from perdure.sources import Micros, SystemSources, id_text
from perdure.testing.fault_injection import Crash
from perdure.testing.memory_folder import memory_folder
from perdure.testing.scenarios import scenario as v
from perdure.testing.scenarios.camunda_time import BrokerTime, beginning
from perdure.testing.scenarios.carried_time import CarriedTime
from perdure.testing.scenarios.embedded_world import EmbeddedWorld
from perdure.testing.scenarios.model_dates import shifted
from perdure.testing.scenarios.stub_deployment import stub_verbs
from perdure.testing.scenarios.world import Refusal
from perdure.testing.virtual_clock import START

POLL_SECONDS = 1
OVER_SECONDS = 1.2
"""When a poll that nobody listens to any more has ended in the broker: before that it may take a job along."""
TOLD_SECONDS = 10.0
MAX_LOOKS = 3_000


class CamundaWorld(EmbeddedWorld):
    """A scenario whose instances are carried by Camunda; our store, verbs and stubs are those of the other worlds.

    One world at a time has a broker: its records go to one address, and its clock is moved.
    """

    _time: BrokerTime
    _since: Micros

    @classmethod
    @asynccontextmanager
    async def open_at(
        cls, scenario: v.Scenario, target: str, tail: str, at: Micros = 0, release: str = ""
    ) -> AsyncIterator[CamundaWorld]:
        """With the broker at a target whose records go to `tail`, in a SQLite file of its own, from a moment on."""
        with TemporaryDirectory(prefix="perdure-scenario-", dir=memory_folder()) as folder:
            catalogue, types = stub_verbs(scenario)
            seed = int(SystemSources().random() * 2**53)
            world = cls(scenario, f"sqlite:///{Path(folder) / 'scenario.db'}", catalogue, types, seed)
            told = f"tail={tail}&poll={POLL_SECONDS}&tenant={world.origin.tenant}"
            world._carrier = f"camunda://{target}?{told}{f'&release={release}' if release else ''}"
            world._time = BrokerTime(f"http://{target}/v2", at or beginning())
            world._clock.move_to(await world._time.now())
            world._since = world._clock.now() - START
            world._marks = Marks()
            await world._begin()
            try:
                yield world
            finally:
                await world._end_instances()
                await world.close()

    _marks: Marks

    async def _begin(self) -> None:
        await super()._begin()
        carrier = self._outside
        worker, tail = carrier.worker, carrier.tail
        take, keep = worker.take, tail._keep

        async def taken(job: Any) -> None:
            self._clock.move_to(max(self._clock.now(), await self._time.tick()))
            await take(job)

        async def heard(body: bytes) -> None:
            await keep(body)
            self._marks.look_at(body)

        worker.take, tail._keep = taken, heard

    @property
    def _outside(self) -> Any:
        engine: Any = self.engine
        return engine.outside["camunda"]

    async def _end_instances(self) -> None:
        """Nothing of this world is told to the next one, or takes its messages."""
        if self._sandbox is None:
            return
        carrier = self._outside
        await carrier.worker.close()
        with suppress(PerdureError, OSError):  # a broker that does not answer in time is told of by the next world
            async with asyncio.timeout(TOLD_SECONDS):
                for id in tuple(self._trail.started):
                    if key := await carrier.commands.keys.key_of(id):
                        with suppress(HTTPError):  # it has ended
                            await self._time.post(f"process-instances/{key}/cancellation", {})
                mark = id_text(SystemSources().new_id())
                await self._time.post("messages/publication", {"name": mark, "correlationKey": mark, "timeToLive": 0})
                await self._marks.wait_for(mark)
        await asyncio.sleep(OVER_SECONDS)

    async def deploy(self, model: Model) -> Refusal | None:
        """Dates of a scenario count from the first of January 2026; the broker's time begins elsewhere."""
        return await super().deploy(shifted(model, self._since))

    async def crash(self) -> None:
        """Nothing more is written; polls of the process that died have ended before the next one begins."""
        assert self.driver is not None
        self.driver.is_dead = True
        with suppress(Crash, PerdureError):
            await self.sandbox.runtime.engine.close()
        await asyncio.sleep(OVER_SECONDS)
        await super().crash()

    @property
    def now(self) -> Micros:
        return self._clock.now()

    @property
    def _carried(self) -> CarriedTime:
        return CarriedTime(self.sandbox, self._clock, self._time, MAX_LOOKS)

    async def idle(self) -> None:
        with self._until_rest():
            await self._carried.idle()

    async def advance(self, seconds: float, months: int = 0) -> None:
        days, rest = divmod(seconds, 86_400)
        await self.idle()
        with self._until_rest():
            target = later(self._clock.now(), parse_span(f"P{months}M{days:.0f}DT{rest:.6f}S"))
            await self._carried.advance_to(target)


class Marks:
    """Messages of a world's own that are looked for in what the broker tells: all before them was told as well."""

    def __init__(self) -> None:
        self._mark = b""
        self._seen = asyncio.Event()

    def look_at(self, body: bytes) -> None:
        if self._mark and self._mark in body:
            self._seen.set()

    async def wait_for(self, mark: str) -> None:
        self._mark = mark.encode()
        await self._seen.wait()
