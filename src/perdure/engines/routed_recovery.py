"""Recovery beside engines outside: abandoned jobs and dispatches are taken up; other work of theirs is left to them."""

from __future__ import annotations

from collections.abc import Mapping

from perdure.engines.carrier import Carrier
from perdure.engines.embedded.instances.instance_changes import InstanceChanges
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.embedded.jobs.job_leases import JobLeases
from perdure.engines.embedded.recovery import InstanceRecovery
from perdure.engines.instance_carrier import InstanceCarriers
from perdure.errors import EngineSettingError, EngineUnavailableError
from perdure.sources import Id
from perdure.work.ports import JobFound, TimerFound


class RoutedRecovery(InstanceRecovery):
    """For instances of every engine: each stays with the one that carries it."""

    def __init__(
        self, instances: Instances, jobs: JobLeases, changes: InstanceChanges, carriers: InstanceCarriers,
        outside: Mapping[str, Carrier],
    ) -> None:  # fmt: skip
        super().__init__(instances, jobs, changes)
        self._carriers = carriers
        self._outside = outside

    async def fire(self, timer: TimerFound) -> None:
        """Fire what our kernel carries, and what an engine outside leaves to it."""
        name = await self._carriers.look(timer.aggregate)
        outside = self._outside.get(name)
        if not name or (outside is not None and outside.leaves_timer(timer)):
            await super().fire(timer)

    async def lease(self, job: JobFound) -> bool:
        """A job that is ready outside is given out there; one whose worker is gone is leased again, wherever it ran."""
        if job.worker == 0 and await self._carriers.look(job.aggregate):
            return False
        try:
            return await super().lease(job)
        except (EngineUnavailableError, EngineSettingError):
            return False

    async def receive(self, tenant: str, message_id: str, kind: str, aggregate: Id) -> bool:
        """Let an engine go on with its work; that of an engine which is not here waits for it."""
        begins = message_id.partition("/")[0]
        for each in self._outside.values():
            if begins in each.rows:
                try:
                    return await each.receive(tenant, message_id, kind, aggregate)
                except (EngineUnavailableError, EngineSettingError):
                    return False
        return False
