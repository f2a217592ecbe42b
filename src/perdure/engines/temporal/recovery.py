"""Recovery beside Temporal: abandoned jobs and dispatches are taken up; timers and ready jobs are the workflow's."""

from __future__ import annotations

from perdure.engines.embedded.instances.instance_changes import InstanceChanges
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.embedded.jobs.job_leases import JobLeases
from perdure.engines.embedded.recovery import InstanceRecovery
from perdure.engines.temporal.carried_commands import CarriedCommands
from perdure.errors import EngineUnavailableError
from perdure.sources import Id
from perdure.work.ports import JobFound, TimerFound


class CarriedRecovery(InstanceRecovery):
    """For instances of both carriers: those that began before the engine was changed stay with the kernel."""

    def __init__(
        self, instances: Instances, jobs: JobLeases, changes: InstanceChanges, commands: CarriedCommands
    ) -> None:
        super().__init__(instances, jobs, changes)
        self._commands = commands

    async def fire(self, timer: TimerFound) -> None:
        if not await self._commands.is_carried(timer.aggregate, is_fresh=True):
            await super().fire(timer)

    async def lease(self, job: JobFound) -> bool:
        """A job that is ready is an activity by now; one whose worker is gone is leased again, wherever it ran."""
        if job.worker == 0 and await self._commands.is_carried(job.aggregate, is_fresh=True):
            return False
        try:
            return await super().lease(job)
        except EngineUnavailableError:
            return False

    async def resend(self, tenant: str, message_id: str, kind: str, aggregate: Id) -> bool:
        """Send a dispatch again that was left behind, once the server answers."""
        try:
            return await self._commands.resend(tenant, message_id)
        except EngineUnavailableError:
            return False
