"""Temporal as a world: the platform with `engine: temporal://`, on the virtual time of Temporal's test server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from temporalio.client import Client, RPCError, WorkflowExecutionStatus

from perdure.bpmn.model import Model
from perdure.durations import later, parse_span
from perdure.errors import PerdureError
from perdure.sources import Id, Micros, SystemSources, id_text
from perdure.testing.fault_injection import Crash
from perdure.testing.memory_folder import memory_folder
from perdure.testing.scenarios import scenario as v
from perdure.testing.scenarios.carried_time import CarriedTime
from perdure.testing.scenarios.embedded_world import EmbeddedWorld
from perdure.testing.scenarios.model_dates import shifted
from perdure.testing.scenarios.stub_deployment import stub_verbs
from perdure.testing.scenarios.temporal_time import ServerTime
from perdure.testing.scenarios.world import Refusal
from perdure.testing.virtual_clock import START

LOOK_SECONDS = 0.005
MAX_ENDINGS = 6_000
"""Looks at a workflow that is about to end. One that is terminated with a task under way holds the server's time."""


class TemporalWorld(EmbeddedWorld):
    """A scenario whose instances are carried by Temporal; our store, verbs and stubs are those of the other worlds."""

    _time: ServerTime
    _since: Micros

    @classmethod
    @asynccontextmanager
    async def open_at(cls, scenario: v.Scenario, target: str, store: str = "") -> AsyncIterator[TemporalWorld]:
        """With the test server at a target, in a SQLite file of its own or in the store named.

        Workers keep no workflow in memory: the server waits for one that is gone, and its time stands still.
        """
        with TemporaryDirectory(prefix="perdure-scenario-", dir=memory_folder()) as folder:
            catalogue, types = stub_verbs(scenario)
            own = f"sqlite:///{Path(folder) / 'scenario.db'}"
            world = cls(scenario, store or own, catalogue, types, int(SystemSources().random() * 2**53))
            world._carrier = f"temporal://{target}/default?cache=0"
            world._time = ServerTime(await Client.connect(target))
            world._clock.move_to(await world._time.now())
            world._since = world._clock.now() - START
            await world._begin()
            try:
                yield world
            finally:
                await world._end_workflows()
                await world.close()

    async def _end_workflows(self) -> None:
        """A task that nobody takes any more would hold the time of the server."""
        with suppress(PerdureError):
            await self._leave_nothing()
        for id in tuple(self._trail.started):
            handle = self._time.client.get_workflow_handle(f"perdure-{id_text(Id(id))}")
            with suppress(RPCError):
                for _ in range(MAX_ENDINGS):
                    if (await handle.describe()).status is not WorkflowExecutionStatus.RUNNING:
                        break
                    await asyncio.sleep(LOOK_SECONDS)
                else:
                    await handle.terminate()

    async def deploy(self, model: Model) -> Refusal | None:
        """Dates of a scenario count from the first of January 2026; the server's time begins now."""
        return await super().deploy(shifted(model, self._since))

    async def crash(self) -> None:
        """Nothing more is written; the worker of the SDK, which has its own threads, ends before all is dropped."""
        assert self.driver is not None
        self.driver.is_dead = True
        with suppress(Crash, PerdureError):
            await self.sandbox.runtime.engine.close()
        await super().crash()

    @property
    def _carried(self) -> CarriedTime:
        return CarriedTime(self.sandbox, self._clock, self._time)

    async def idle(self) -> None:
        with self._until_rest():
            await self._carried.idle()

    async def advance(self, seconds: float, months: int = 0) -> None:
        days, rest = divmod(seconds, 86_400)
        await self.idle()
        with self._until_rest():
            target = later(self._clock.now(), parse_span(f"P{months}M{days:.0f}DT{rest:.6f}S"))
            await self._carried.advance_to(target)
