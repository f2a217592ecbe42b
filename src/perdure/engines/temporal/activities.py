"""Activities: our worker takes the jobs of workflows, and their decisions into our journal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from temporalio import activity
from temporalio.exceptions import ApplicationError

from perdure.bpmn.machine.state import Job
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.embedded.jobs.job_leases import JobLeases
from perdure.engines.temporal.journal_follower import JournalFollower
from perdure.engines.temporal.wire import JOBS_ACTIVITY, TELL_ACTIVITY, read_jobs, read_telling
from perdure.errors import PerdureError
from perdure.journal import Origin
from perdure.sources import Id
from perdure.work.ports import JobFound

T = TypeVar("T")
BEAT_SECONDS = 2.0
"""Well below the silence after which the server takes an activity away."""
UNSERVED = "this process has no handler for it, or no room"


class CarrierActivities:
    """Bound to one process of ours."""

    def __init__(self, instances: Instances, jobs: JobLeases, follower: JournalFollower) -> None:
        self._instances = instances
        self._taker = jobs
        self._follower = follower

    @property
    def all(self) -> Sequence[Callable[..., Coroutine[Any, Any, int]]]:
        return [self.jobs, self.tell]

    @activity.defn(name=TELL_ACTIVITY)
    async def tell(self, body: bytes) -> int:
        """Append decisions to our journal; how far it has come then."""
        told = read_telling(body)
        return await _heard(_tried(self._follower.append(Id(told.instance), told.made)))

    @activity.defn(name=JOBS_ACTIVITY)
    async def jobs(self, body: bytes) -> int:
        """Take jobs that are ready: they run under our lease, and their outcomes come as commands."""
        return await _heard(self._taken(body))

    async def _taken(self, body: bytes) -> int:
        asked = read_jobs(body)
        id, origin = Id(asked.instance), Origin(asked.tenant)
        await _tried(self._follower.append(id, asked.made))
        left = [node for node in asked.nodes if await _tried(self._is_left(id, node, origin))]
        if left:
            raise ApplicationError(UNSERVED, type="perdure.unserved")
        return await _tried(self._follower.version(id))

    async def _is_left(self, id: Id, node: int, origin: Origin) -> bool:
        """Whether a job still waits for a worker after this one tried to take it."""
        job = await self._ready(id, node, origin)
        if job is None:
            return False
        if self._instances.conductor.room <= 0:
            return True
        found = JobFound(id, node, origin.tenant, 0, job.definition)
        return not await self._taker.lease(found) and await self._ready(id, node, origin) is not None

    async def _ready(self, id: Id, number: int, origin: Origin) -> Job | None:
        aggregate = await self._instances.read(id, origin)
        node = aggregate.state.nodes.get(number)
        job: Job | None = node.job if node is not None and node.incident is None else None
        return job if job is not None and job.status == "ready" and aggregate.state.status != "suspended" else None


async def _heard(work: Coroutine[Any, Any, T]) -> T:
    """Say now and then that this worker lives, so that the activity of a killed one comes back soon."""
    beating = asyncio.ensure_future(_beat())
    try:
        return await work
    finally:
        beating.cancel()


async def _beat() -> None:
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        activity.heartbeat()


async def _tried(work: Coroutine[Any, Any, T]) -> T:
    """What our store refuses now is tried again by Temporal."""
    try:
        return await work
    except PerdureError as error:
        raise ApplicationError(str(error), type=error.code) from error
