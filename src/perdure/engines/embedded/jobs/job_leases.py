"""Jobs: what is leased to this process is run by its crew, and what nobody holds is taken over."""

from __future__ import annotations

import logging

from perdure.bpmn.machine.commands import LeaseJob
from perdure.bpmn.machine.deployed_process import Binding
from perdure.bpmn.machine.journal_entries import JobStarted
from perdure.bpmn.machine.state import Instance, Job, job_key
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.embedded.jobs.attempt_execution import Attempt, Workshop, is_gone
from perdure.engines.embedded.jobs.job_bindings import JobBindings
from perdure.engines.embedded.jobs.missing_handlers import PLATFORM, raise_missing
from perdure.errors import QuarantinedError, RejectedError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.sources import id_text
from perdure.work.keyed_lock import KeyedLock
from perdure.work.ports import JobFound

log = logging.getLogger("perdure")


class JobLeases:
    """Runs what is leased to this process, and takes over what nobody holds."""

    def __init__(self, instances: Instances) -> None:
        self._instances = instances
        self._conductor = conductor = instances.conductor
        self._lease, self._crew = conductor.lease, conductor.crew
        self._shop = Workshop(
            instances, conductor.crew, conductor.lease, conductor.router, JobBindings(conductor), KeyedLock()
        )  # fmt: skip
        instances.kernel.hear((JobStarted,), self.begin)

    def begin(self, aggregate: Aggregate, started: JobStarted) -> None:
        """Run a job that was leased to this process."""
        worker = started.worker
        if worker != self._lease.number:
            return
        id, state = aggregate.id, aggregate.state
        node = state.nodes.get(started.number)
        job = node.job if node is not None else None
        if job is None or job.attempt != started.attempt or job.worker != worker:
            return  # ended again by a later command of the same commit
        # By its commit: an attempt that was cut off and is leased again has the same number.
        name = (id, node.number, aggregate.version, worker)
        origin = Origin(aggregate.tenant, state.principal, state.trace)
        key = job_key(id_text(id), job.began_as or node.element, job.run)
        self._crew.enqueue(name, Attempt(self._shop, name, aggregate, node, job, origin, key).run)

    async def lease(self, found: JobFound) -> bool:
        """Take a job that is ready or whose worker is gone; True when it is ours now."""
        origin = Origin(found.tenant, PLATFORM)
        try:
            aggregate = await self._instances.read_or_recall(found.aggregate, origin)
            definition = await self._instances.loaded(aggregate)
            node = aggregate.state.nodes.get(found.step)
            if node is None or node.job is None:
                aggregate = await self._instances.read(found.aggregate, origin)
                definition = await self._instances.loaded(aggregate)
                node = aggregate.state.nodes.get(found.step)
            if node is None or node.job is None:
                return False
            binding = definition.binding(definition.type_of(node))
            if binding is None:
                await raise_missing(self._instances, found.aggregate, node, origin, definition)
                return False
            if self._conductor.serves(binding.verb, binding.version, binding.definition) is None:
                return False  # another worker may have it; if none does, the check of definitions raises an incident
            begun = await self._begun_as(aggregate, node.job) if found.worker else binding
            command = LeaseJob(
                node=found.step, worker=self._conductor.lease.number, abandoned=found.worker,
                redelivery=begun.redelivery if begun is not None else "incident",
            )  # fmt: skip
            return (await self._instances.ask(found.aggregate, origin, Prepared(command))).answer == "leased"
        except QuarantinedError:
            return False
        except RejectedError as error:
            if is_gone(error):
                return False
            log.warning("the job %s of instance %s cannot be taken up: %s", found.step, id_text(found.aggregate), error)
            raise

    async def _begun_as(self, aggregate: Aggregate, job: Job) -> Binding | None:
        """What a job under way is pinned to: the instance may have been migrated since a worker took it."""
        state: Instance = aggregate.state
        for hash in (state.definition, *(past[0] for past in reversed(state.past))):
            definition = await self._instances.definitions.stored(state.process, hash, aggregate.tenant)
            binding = definition.binding(job.type) if definition is not None else None
            if definition is not None and job.definition in (0, definition.plan.definition(job.type)) and binding:
                return binding
        return None
