"""Time of a platform whose processes a carrier runs: it passes there, and our clock follows."""

from __future__ import annotations

import asyncio
from typing import Protocol

from perdure.errors import InvariantBroken
from perdure.sources import Micros
from perdure.testing.sandbox import Sandbox
from perdure.testing.virtual_clock import VirtualSources

LOOK_SECONDS = 0.005
MAX_LOOKS = 6_000
MAX_STEPS = 2_000
MAX_JOBS = 1_000
CARRIERS_WORK = frozenset({"dispatch", "camunda_dispatch", "camunda_fact"})
"""Kinds of inbox rows that stand for work between a carrier and our journal."""


class CarrierTime(Protocol):
    """The time that counts for timers of a carrier."""

    async def now(self) -> Micros: ...
    async def move_to(self, at: Micros) -> Micros:
        """Let it pass until a moment; the time then."""
        ...


class CarriedTime:
    """Moves the time of a server and our clock with it, stopping wherever something is due."""

    def __init__(self, sandbox: Sandbox, clock: VirtualSources, time: CarrierTime, max_looks: int = MAX_LOOKS) -> None:
        self._sandbox = sandbox
        self._clock = clock
        self._time = time
        self._max_looks = max_looks

    async def idle(self) -> None:
        """Wait until nothing is left to do now: no timer is due, no job is ready, no dispatch is open."""
        for _ in range(self._max_looks):
            await self._sandbox.run_until_idle()
            self._clock.move_to(max(self._clock.now(), await self._time.now()))
            if not await self._is_busy():
                return
            await asyncio.sleep(LOOK_SECONDS)
        raise InvariantBroken("idle", "world", "carrier", f"there was still work after {self._max_looks} looks")

    async def _is_busy(self) -> bool:
        runtime = self._sandbox.runtime
        store, conductor = runtime.store, runtime.conductor
        if await store.due_timers(0, b"", self._clock.now(), 1) or await store.open_jobs(1):
            return True
        leased = await store.jobs_of_worker(runtime.lease.number, (b"", 0), MAX_JOBS)
        if any((job.aggregate, job.step) not in conductor.running for job in leased):
            return True
        if any(task not in self._clock.asleep for task in conductor.tasks()):
            return True
        return any(kind in CARRIERS_WORK for _, _, _, kind, _ in await store.pending_messages(0, 50))

    async def advance_to(self, target: Micros) -> None:
        """Let time pass; everything due on the way happens in its order."""
        await self.idle()
        for _ in range(MAX_STEPS):
            due = await self._sandbox.runtime.store.due_timers(0, b"", target, 1)
            wakes = self._clock.next_wake()
            stops = [at for at in (due[0].due if due else None, wakes) if at is not None and at <= target]
            if not stops:
                break
            await self._move_to(min(stops))
            await self.idle()
        else:
            raise InvariantBroken("advance", "world", "carrier", f"more than {MAX_STEPS} timers fired on the way")
        await self._move_to(target)
        self._sandbox.runtime.lease.beat_once()
        await self._sandbox.runtime.check()
        await self.idle()

    async def _move_to(self, at: Micros) -> None:
        now = await self._time.move_to(at)
        self._clock.move_to(max(at, now))
