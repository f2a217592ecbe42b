"""Recovery beside Camunda: dispatches and abandoned jobs are taken up; timers and ready jobs come from there."""

from __future__ import annotations

from perdure.bpmn.machine.human_tasks import LADDER
from perdure.engines.camunda.carried_commands import CarriedCommands
from perdure.engines.embedded.instances.instance_changes import InstanceChanges
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.embedded.jobs.job_leases import JobLeases
from perdure.engines.embedded.recovery import InstanceRecovery
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
        """Ladders of tasks are ours; every other timer is Camunda's."""
        if timer.kind == LADDER or not await self._commands.is_carried(timer.aggregate):
            await super().fire(timer)

    async def lease(self, job: JobFound) -> bool:
        """A job that is ready comes from Camunda; one whose worker is gone is leased again under its frame."""
        if job.worker == 0 and await self._commands.is_carried(job.aggregate):
            return False
        try:
            return await super().lease(job)
        except EngineUnavailableError:
            return False

    async def resend(self, tenant: str, message_id: str, kind: str, aggregate: Id) -> bool:
        """Send a dispatch again that was left behind, once Camunda answers."""
        try:
            return await self._commands.resend(tenant, message_id)
        except EngineUnavailableError:
            return False
