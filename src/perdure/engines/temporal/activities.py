"""Activities: our worker runs the jobs of workflows and takes their decisions into our journal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from temporalio import activity
from temporalio.exceptions import ApplicationError

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.embedded.jobs.job_leases import JobLeases
from perdure.engines.temporal.journal_follower import JournalFollower
from perdure.engines.temporal.wire import JOB_ACTIVITY, TELL_ACTIVITY, JobAsked, read_job, read_telling
from perdure.errors import PerdureError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.sources import Id
from perdure.work.ports import JobFound

T = TypeVar("T")
BEAT_SECONDS = 5.0
UNSERVED = "no handler of this process runs it"


class CarrierActivities:
    """Bound to one process of ours."""

    def __init__(self, instances: Instances, jobs: JobLeases, follower: JournalFollower) -> None:
        self._instances = instances
        self._jobs = jobs
        self._follower = follower
        self._waiting: dict[Id, set[asyncio.Event]] = {}
        instances.kernel.listen(self._on_commit, INSTANCE)

    @property
    def all(self) -> Sequence[Callable[..., Coroutine[Any, Any, int]]]:
        return [self.job, self.tell]

    def _on_commit(self, aggregate: Aggregate, entries: Any) -> None:
        for event in self._waiting.get(aggregate.id, ()):
            event.set()

    @activity.defn(name=TELL_ACTIVITY)
    async def tell(self, body: bytes) -> int:
        """Append decisions to our journal; how far it has come then."""
        told = read_telling(body)
        return await _tried(self._follower.append(Id(told.instance), told.made))

    @activity.defn(name=JOB_ACTIVITY)
    async def job(self, body: bytes) -> int:
        """Lease a job that is ready, and wait until it is over; how far our journal has come then."""
        asked = read_job(body)
        id = Id(asked.instance)
        await _tried(self._follower.append(id, asked.made))
        event = asyncio.Event()
        self._waiting.setdefault(id, set()).add(event)
        try:
            while await _tried(self._is_open(id, asked)):
                event.clear()
                activity.heartbeat()
                try:
                    async with asyncio.timeout(BEAT_SECONDS):
                        await event.wait()
                except TimeoutError:
                    continue
            return await self._follower.version(id)
        finally:
            self._waiting[id].discard(event)
            if not self._waiting[id]:
                del self._waiting[id]

    async def _is_open(self, id: Id, asked: JobAsked) -> bool:
        """Whether the job is under way; one that is ready is leased first."""
        origin = Origin(asked.tenant)
        aggregate = await self._instances.read(id, origin)
        node = aggregate.state.nodes.get(asked.node)
        job = node.job if node is not None else None
        if node is None or job is None or node.incident is not None or aggregate.state.status == "suspended":
            return False
        if job.status == "ready":
            found = JobFound(id, asked.node, asked.tenant, 0, job.definition)
            if await self._jobs.lease(found):
                return True
            again = await self._instances.read(id, origin)
            node = again.state.nodes.get(asked.node)
            if node is not None and node.job is not None and node.job.status == "ready" and node.incident is None:
                raise ApplicationError(UNSERVED, type="perdure.unserved")
            return True
        is_leased: bool = job.status == "leased"
        return is_leased


async def _tried(work: Coroutine[Any, Any, T]) -> T:
    """What our store refuses now is tried again by Temporal."""
    try:
        return await work
    except PerdureError as error:
        raise ApplicationError(str(error), type=error.code) from error
