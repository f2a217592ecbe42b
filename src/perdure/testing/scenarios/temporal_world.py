"""Temporal as a world: the platform with `engine: temporal://`, on the virtual time of Temporal's test server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, cast

import msgspec
from google.protobuf.duration_pb2 import Duration
from google.protobuf.empty_pb2 import Empty
from msgspec.structs import replace
from temporalio.api.testservice.v1 import SleepRequest
from temporalio.client import Client, RPCError, WorkflowExecutionStatus

from perdure.bpmn.model import Model, TimerTrigger, Value
from perdure.durations import later, parse_span
from perdure.errors import InvariantBroken, PerdureError
from perdure.moments import iso, parse_date_time
from perdure.sources import SECOND, Id, Micros, SystemSources, id_text
from perdure.testing.fault_injection import Crash
from perdure.testing.memory_folder import memory_folder
from perdure.testing.scenarios import scenario as v
from perdure.testing.scenarios.embedded_world import EmbeddedWorld
from perdure.testing.scenarios.stub_deployment import stub_verbs
from perdure.testing.scenarios.world import Refusal
from perdure.testing.virtual_clock import START

LOOK_SECONDS = 0.005
MAX_LOOKS = 6_000
MAX_STEPS = 2_000
MAX_ENDINGS = 200
MAX_JOBS = 1_000


class ServerTime:
    """The time of a test server: it stands still unless it is moved."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def now(self) -> Micros:
        time = (await self.client.test_service.get_current_time(Empty())).time
        return time.seconds * SECOND + time.nanos // 1000

    async def move_to(self, at: Micros) -> Micros:
        left = at - await self.now()
        if left > 0:
            seconds, micros = divmod(left, SECOND)
            duration = Duration(seconds=seconds, nanos=micros * 1000)
            await self.client.test_service.unlock_time_skipping_with_sleep(SleepRequest(duration=duration))
        return await self.now()


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

    async def idle(self) -> None:
        """Until nothing is left to do now: no timer is due, no job is ready, no dispatch is open."""
        with self._until_rest():
            for _ in range(MAX_LOOKS):
                await self.sandbox.run_until_idle()
                self._clock.move_to(max(self._clock.now(), await self._time.now()))
                if not await self._is_busy():
                    return
                await asyncio.sleep(LOOK_SECONDS)
        raise InvariantBroken("idle", "world", "temporal", f"there was still work after {MAX_LOOKS} looks")

    async def _is_busy(self) -> bool:
        store = self.sandbox.runtime.store
        if await store.due_timers(0, b"", self._clock.now(), 1) or await store.open_jobs(1):
            return True
        conductor = self.sandbox.runtime.conductor
        leased = await store.jobs_of_worker(self.sandbox.runtime.lease.number, (b"", 0), MAX_JOBS)
        if any((job.aggregate, job.step) not in conductor.running for job in leased):
            return True
        if any(task not in self._clock.asleep for task in conductor.tasks()):
            return True
        return any(kind == "dispatch" for _, _, _, kind, _ in await store.pending_messages(0, 50))

    async def advance(self, seconds: float, months: int = 0) -> None:
        days, rest = divmod(seconds, 86_400)
        await self.idle()
        target = later(self._clock.now(), parse_span(f"P{months}M{days:.0f}DT{rest:.6f}S"))
        for _ in range(MAX_STEPS):
            due = await self.sandbox.runtime.store.due_timers(0, b"", target, 1)
            wakes = self._clock.next_wake()
            stops = [at for at in (due[0].due if due else None, wakes) if at is not None and at <= target]
            if not stops:
                break
            await self._move_to(min(stops))
            await self.idle()
        else:
            raise InvariantBroken("advance", "world", "temporal", f"more than {MAX_STEPS} timers fired on the way")
        await self._move_to(target)
        self.sandbox.runtime.lease.beat_once()
        await self.sandbox.runtime.check()
        await self.idle()

    async def _move_to(self, at: Micros) -> None:
        now = await self._time.move_to(at)
        self._clock.move_to(max(at, now))


Part = TypeVar("Part")


def shifted(part: Part, by: Micros) -> Part:
    """A part of a model with its dates moved."""
    made: Any = part
    if isinstance(part, TimerTrigger) and part.kind == "date" and part.value.kind == "literal":
        made = replace(part, value=Value(iso(parse_date_time(part.value.text) + by) or ""))
    elif isinstance(part, msgspec.Struct):
        found = {name: getattr(part, name) for name in part.__struct_fields__}
        moved = {name: shifted(value, by) for name, value in found.items()}
        changed = {name: value for name, value in moved.items() if value is not found[name]}
        made = replace(part, **changed) if changed else part
    elif isinstance(part, tuple):
        several = tuple(shifted(each, by) for each in part)
        made = several if any(one is not other for one, other in zip(several, part, strict=True)) else part
    return cast("Part", made)
