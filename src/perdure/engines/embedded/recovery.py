"""Recovery: a worker continues instances and processes whose own process is busy or gone."""

from __future__ import annotations

from perdure.bpmn.machine.aggregate_ids import PROCESS
from perdure.bpmn.machine.commands import FireTimer, RetryIncident
from perdure.bpmn.machine.process_machine import FireStart
from perdure.engines.embedded.instances.instance_changes import InstanceChanges
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.embedded.jobs.job_leases import JobLeases
from perdure.engines.embedded.jobs.missing_handlers import MISSING, PLATFORM, raise_missing
from perdure.errors import FencedError, QuarantinedError, RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.sources import Id, id_text
from perdure.work.ports import JobFound, TimerFound


class InstanceRecovery:
    """For aggregates of kind `instance`."""

    def __init__(self, instances: Instances, jobs: JobLeases, changes: InstanceChanges) -> None:
        self._instances = instances
        self._jobs = jobs
        self._changes = changes

    async def fire(self, timer: TimerFound) -> None:
        """A timer event, or a retry; jobs that become ready are ours when we serve all of the process."""

        def make(aggregate: Aggregate) -> Prepared:
            worker = self._instances.worker_of(aggregate)
            command = FireTimer(number=timer.step, kind=timer.kind, due=timer.due, worker=worker)
            return Prepared(command, due=timer.due)

        try:
            await self._instances.ask(timer.aggregate, Origin(timer.tenant, PLATFORM), make)
        except (RejectedError, QuarantinedError, FencedError):
            return

    async def lease(self, job: JobFound) -> bool:
        return await self._jobs.lease(job)

    async def miss(self, id: Id, step: int, tenant: str) -> bool:
        aggregate = await self._instances.read(id, Origin(tenant))
        node = aggregate.state.nodes.get(step)
        if node is None or node.job is None or node.incident is not None or await self._serves(aggregate, step):
            return False
        await raise_missing(self._instances, id, node, Origin(tenant), await self._instances.loaded(aggregate))
        return True

    async def _serves(self, aggregate: Aggregate, step: int) -> bool:
        definition = await self._instances.loaded(aggregate)
        node = aggregate.state.nodes.get(step)
        binding = definition.binding(definition.type_of(node)) if node is not None else None
        if binding is None:
            return False
        return self._instances.conductor.serves(binding.verb, binding.version, binding.definition) is not None

    async def heal(self, id: Id, step: int, tenant: str) -> bool:
        origin = Origin(tenant, PLATFORM)
        if not await self._serves(await self._instances.read(id, origin), step):
            return False

        def make(current: Aggregate) -> Prepared | Rejection:
            # Another incident may have taken its place, and that one is not ours to retry.
            node = current.state.nodes.get(step)
            if node is None or node.incident is None or node.incident.code != MISSING:
                return Rejection("wrong_state", "heal", "instance", id_text(current.id), "it misses nothing")
            return Prepared(RetryIncident(node=step, worker=self._instances.worker_of(current)))

        await self._instances.ask(id, origin, make)
        return True

    async def erase(self, id: Id, tenant: str, principal: str, reason: str) -> str:
        return await self._changes.erase(id, Origin(tenant, principal), reason)


class ProcessRecovery:
    """For aggregates of kind `process`: only their start timers need looking after."""

    def __init__(self, instances: Instances) -> None:
        self._kernel = instances.kernel

    async def fire(self, timer: TimerFound) -> None:
        command = FireStart(index=timer.step, due=timer.due)
        try:
            await self._kernel.ask(
                PROCESS, timer.aggregate, Origin(timer.tenant, PLATFORM), Prepared(command, due=timer.due)
            )
        except (RejectedError, QuarantinedError, FencedError):
            return

    async def lease(self, job: JobFound) -> bool:
        return False

    async def miss(self, id: Id, step: int, tenant: str) -> bool:
        return False

    async def heal(self, id: Id, step: int, tenant: str) -> bool:
        return False

    async def erase(self, id: Id, tenant: str, principal: str, reason: str) -> str:
        fact = "a process is kept as long as instances may need it"
        raise RejectedError(Rejection("wrong_state", "erase", "process", id_text(id), fact, "Retire it instead."))
