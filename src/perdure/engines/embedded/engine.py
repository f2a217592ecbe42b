"""The embedded engine: the engine contract over our own kernel and store."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from perdure.bpmn.machine.identity import INSTANCE, PROCESS
from perdure.contracts import check_key
from perdure.engine import EVERYTHING, MESSAGE, SIGNAL, Flags, JobStream, StartRequest, Until
from perdure.engines.embedded.arrivals import Arrivals
from perdure.engines.embedded.changes import Changes
from perdure.engines.embedded.duties import InstanceDuties, ProcessDuties
from perdure.engines.embedded.instances import Instances
from perdure.engines.embedded.job_streams import EmbeddedJobStream
from perdure.engines.embedded.jobs import Jobs
from perdure.engines.embedded.mail import Mail
from perdure.engines.embedded.messages import Messages
from perdure.engines.embedded.notices import Notices
from perdure.engines.embedded.people import People
from perdure.engines.embedded.ports import EngineStore
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.processes.forms import Forms
from perdure.processes.instances import InstanceReader
from perdure.runbooks.conductor import Conductor
from perdure.runbooks.state import Pin
from perdure.runbooks.upkeep import Upkeep
from perdure.sources import Id, Sources
from perdure.verbs import Verb


class EmbeddedEngine:
    """One per process, beside the conductor whose kernel, lease and jobs it shares.

    Calls of the contract are those of its parts; only `start` has something of its own to check.
    """

    name = "embedded"
    capabilities = EVERYTHING

    def __init__(
        self, conductor: Conductor, upkeep: Upkeep, store: EngineStore, reader: InstanceReader, forms: Forms,
        sources: Sources,
    ) -> None:  # fmt: skip
        self.instances = Instances(conductor, store, reader, sources)
        self.definitions = definitions = reader.definitions
        self.workshop = Jobs(self.instances)
        arrivals = Arrivals(self.instances, forms)
        mail = Mail(self.instances, arrivals)
        people = People(self.instances, arrivals)
        self.changes = changes = Changes(self.instances)
        self.messages = messages = Messages(
            conductor.kernel, store, reader.machine, sources, ask=self.instances.ask, merge=mail.merge, start=mail.start
        )
        self.notices = Notices(self.instances, changes, messages)
        upkeep.join(INSTANCE, InstanceDuties(self.instances, self.workshop, changes))
        upkeep.join(PROCESS, ProcessDuties(self.instances))
        upkeep.receive(self.notices.kinds, self.notices.deliver)
        upkeep.receive((MESSAGE, SIGNAL), self._go_on)
        conductor.carry(self._carrier)

        self.deploy, self.judge, self.enter = definitions.deploy, definitions.judge, definitions.enter
        self.retire, self.deprecate = definitions.retire, definitions.deprecate
        self.cancel, self.suspend, self.resume = changes.cancel, changes.suspend, changes.resume
        self.modify, self.erase = changes.modify, changes.erase
        self.migrate, self.migrate_back = changes.migrate, changes.migrate_back
        self.publish, self.correlate = messages.publish, messages.correlate
        self.signal, self.replay = messages.signal, messages.replay
        self.follow = reader.follow
        self.sweep, self.drain = messages.sweep, messages.drain
        self.complete_task, self.claim_task = people.complete_task, people.claim_task
        self.delegate_task, self.reassign_task = people.delegate_task, people.reassign_task
        self.retry_incident, self.resolve_incident = people.retry_incident, people.resolve_incident

    def jobs(self, types: Sequence[str]) -> JobStream:
        """The jobs of some types from now on, in place of the handlers of this process."""
        return EmbeddedJobStream(self.instances, types)

    async def _carrier(self, verb: Verb, origin: Origin) -> Pin:
        """The version of its process that carries a durable verb which is called now."""
        process = verb.execution.process or ""
        version = await self.definitions.choose_or_bring(process, origin)
        return Pin(process, version.number, version.hash)

    async def _go_on(self, tenant: str, message_id: str, kind: str, aggregate: Id) -> bool:
        return await self.messages.deliver(tenant, message_id)

    def start(
        self,
        process: str,
        origin: Origin,
        *,
        version: int | None = None,
        data: Mapping[str, Any] | None = None,
        flags: Flags | None = None,
        start: str = "",
        business_key: str = "",
        idempotency_key: str = "",
        parent: str = "",
        until: Until = "committed",
    ) -> Coroutine[Any, Any, Aggregate]:
        """Begin an instance, of the latest version unless one is named, and follow it `until` it has come that far."""
        if business_key:
            check_key("start", "instance under business key", business_key)
        request = StartRequest(
            process=process,
            version=version,
            data=data,
            flags=flags,
            start=start,
            business_key=business_key,
            idempotency_key=idempotency_key,
            parent=parent,
        )
        return self.instances.start(request, origin, until=until)
