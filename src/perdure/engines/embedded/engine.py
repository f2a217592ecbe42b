"""The embedded engine: the engine contract over our own kernel and store."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from perdure.bpmn.machine.definition import Deployed, Profile
from perdure.bpmn.machine.machine import InstanceMachine
from perdure.bpmn.machine.process import ProcessMachine, ProcessState
from perdure.bpmn.model import Model
from perdure.contracts import check_key
from perdure.cron import next_cron
from perdure.engine import (
    Deployment,
    Flags,
    InstanceName,
    MessageOutcome,
    MigrationPlan,
    ProcessVersion,
    StartRequest,
)
from perdure.engines.embedded.arrivals import Arrivals
from perdure.engines.embedded.changes import Changes
from perdure.engines.embedded.definitions import Check, Definitions, version_views
from perdure.engines.embedded.duties import InstanceDuties, ProcessDuties
from perdure.engines.embedded.following import Until
from perdure.engines.embedded.instances import INDEX, Instances, Told
from perdure.engines.embedded.jobs import Jobs
from perdure.engines.embedded.letters import MESSAGE, SIGNAL
from perdure.engines.embedded.mail import Mail
from perdure.engines.embedded.messages import Messages
from perdure.engines.embedded.notices import Notices
from perdure.engines.embedded.payloads import Payloads
from perdure.engines.embedded.people import People
from perdure.engines.embedded.plans import Plans
from perdure.engines.embedded.ports import FROM_THE_NEWEST, EngineStore
from perdure.journal import Machine, Origin
from perdure.kernel.kernel import Aggregate
from perdure.runbooks.conductor import Conductor
from perdure.runbooks.state import Pin
from perdure.runbooks.upkeep import Upkeep
from perdure.sources import Id, Sources
from perdure.verbs import Verb

MAX_PROCESSES = 1000


def engine_machines(plans: Plans) -> dict[str, Machine[Any, Any, Any]]:
    """The machines a kernel needs to carry processes."""
    return {
        InstanceMachine.kind: InstanceMachine(plans, next_cron, remembers=True),
        ProcessMachine.kind: ProcessMachine(next_cron),
    }


class EmbeddedEngine:
    """One per process, beside the conductor whose kernel, lease and jobs it shares."""

    def __init__(
        self, conductor: Conductor, upkeep: Upkeep, store: EngineStore, plans: Plans, sources: Sources,
        checks: Sequence[Check] = (),
    ) -> None:  # fmt: skip
        machine = conductor.kernel.machine(InstanceMachine.kind)
        assert isinstance(machine, InstanceMachine)
        self.store = store
        self.definitions = Definitions(conductor.kernel, store, conductor.catalogue, plans, checks)
        self.payloads = Payloads(store)
        conductor.kernel.leave(self.payloads.forget)
        self.instances = Instances(conductor, store, self.definitions, self.payloads, machine, sources)
        self.jobs = Jobs(self.instances)
        self.followers = self.instances.followers
        self.arrivals = Arrivals(self.instances)
        self.people = People(self.instances, self.arrivals)
        self.changes = Changes(self.instances)
        mail = Mail(self.instances, self.arrivals)
        self.messages = Messages(
            conductor.kernel, store, machine, sources, ask=self.instances.ask, merge=mail.merge, start=mail.start
        )
        self.notices = Notices(self.instances, self.changes, self.messages)
        upkeep.join(InstanceMachine.kind, InstanceDuties(self.instances, self.jobs, self.changes))
        upkeep.join(ProcessMachine.kind, ProcessDuties(self.instances))
        upkeep.receive(self.notices.kinds, self.notices.deliver)
        upkeep.receive((MESSAGE, SIGNAL), self._go_on)
        conductor.carry(self.carrier)
        self.find_model: Callable[[str, Origin], Any] | None = None

    async def carrier(self, verb: Verb, origin: Origin) -> Pin:
        """Which version of its process carries a durable verb that is called now."""
        process = verb.execution.process or ""
        if self.find_model is not None and await self.definitions.find(process, origin) is None:
            await self.find_model(process, origin)
        version = await self.definitions.choose(process, None, origin)
        return Pin(process, version.number, version.hash)

    async def _go_on(self, tenant: str, message_id: str, kind: str, aggregate: Id) -> bool:
        return await self.messages.deliver(tenant, message_id)

    # --- processes -----------------------------------------------------------------------------------------------

    async def deploy(
        self, model: Model, origin: Origin, *, process: str = "", profile: Profile = "hollow", contract: Any = None,
        deployed: Deployed | None = None,
    ) -> Deployment:  # fmt: skip
        """Check, bind and store a process of a file; the same content again is the same version."""
        return await self.definitions.deploy(
            model, origin, process=process, profile=profile, contract=contract, deployed=deployed
        )

    async def processes(self, origin: Origin) -> list[ProcessVersion]:
        """The latest version of every process."""
        machine = self.instances.kernel.machine(ProcessMachine.kind)
        found: list[ProcessVersion] = []
        for row in await self.store.aggregates(origin.tenant, ProcessMachine.kind, most=MAX_PROCESSES):
            state: ProcessState = machine.decode(row.state)
            views = version_views(state)
            found.append(next((view for view in views if view.is_latest), views[-1]))
        return sorted(found, key=lambda each: each.process)

    async def versions(self, process: str, origin: Origin) -> list[ProcessVersion]:
        return await self.definitions.versions(process, origin)

    async def retire(self, process: str, version: int, origin: Origin, *, reason: str = "") -> None:
        """No instance begins under that version any more; those that run go on."""
        await self.definitions.set_status(process, version, "retired", origin, reason)

    async def deprecate(self, process: str, version: int, origin: Origin, *, reason: str = "") -> None:
        """Instances begin under that version only when asked for by its number."""
        await self.definitions.set_status(process, version, "deprecated", origin, reason)

    # --- instances -----------------------------------------------------------------------------------------------

    def start(
        self, process: str, origin: Origin, *, version: int | None = None, data: Mapping[str, Any] | None = None,
        flags: Flags | None = None, start: str = "", business_key: str = "", idempotency_key: str = "",
        parent: str = "", until: Until = "committed",
    ) -> Coroutine[Any, Any, Aggregate]:  # fmt: skip
        """Begin an instance, of the latest version unless one is named, and follow it `until` it has come that far."""
        if business_key:
            check_key("start", "instance under business key", business_key)
        return self.instances.start(
            StartRequest(
                process=process, version=version, data=data, flags=flags, start=start, business_key=business_key,
                idempotency_key=idempotency_key, parent=parent,
            ),
            origin, until=until,
        )  # fmt: skip

    async def read(self, instance: InstanceName, origin: Origin) -> Aggregate:
        return await self.instances.read(instance, origin)

    async def data(self, instance: InstanceName, origin: Origin) -> Any:
        return await self.instances.data(await self.instances.read(instance, origin))

    async def history(self, instance: InstanceName, origin: Origin) -> list[Told]:
        return await self.instances.history(instance, origin)

    async def list_instances(
        self, origin: Origin, *, process: str = "", status: str = "", business_key: str = "", after: bytes = b"",
        most: int = 100,
    ) -> list[Aggregate]:  # fmt: skip
        """Instances, newest first, those before the id `after`; of one process or in one status, or of any."""
        before = after or FROM_THE_NEWEST
        if process or business_key:
            field, value = ("business_key", business_key) if business_key else ("process", process)
            rows = await self.store.indexed(origin.tenant, INDEX, field, value, before, most)
        else:
            rows = await self.store.aggregates(origin.tenant, InstanceMachine.kind, status, before, most)
        found = [await self.instances.read(row.id, origin) for row in rows if not status or row.status == status]
        return [each for each in found if not process or each.state.process == process]

    async def cancel(
        self, instance: InstanceName, origin: Origin, *, reason: str = "", compensate: bool = False
    ) -> Aggregate:
        return await self.changes.cancel(instance, origin, reason=reason, compensate=compensate)

    async def suspend(self, instance: InstanceName, origin: Origin, *, reason: str = "") -> Aggregate:
        return await self.changes.suspend(instance, origin, reason=reason)

    async def resume(self, instance: InstanceName, origin: Origin, *, shift_timers: bool = False) -> Aggregate:
        return await self.changes.resume(instance, origin, shift_timers=shift_timers)

    async def modify(
        self, instance: InstanceName, origin: Origin, *, cancel: Sequence[int] = (), start: Sequence[str] = (),
        flags: Flags | None = None, reason: str = "",
    ) -> Aggregate:  # fmt: skip
        return await self.changes.modify(
            instance, origin, cancel=cancel, start=start, flags=flags, reason=reason
        )  # fmt: skip

    async def migrate(
        self, instance: InstanceName, origin: Origin, *, process: str = "", version: int | None = None,
        mapping: Mapping[str, str] | None = None, flags: Mapping[str, str] | None = None, reason: str = "",
        dry_run: bool = False,
    ) -> MigrationPlan:  # fmt: skip
        return await self.changes.migrate(
            instance, origin, process=process, version=version, mapping=mapping, flags=flags, reason=reason,
            dry_run=dry_run,
        )  # fmt: skip

    async def migrate_back(
        self, instance: InstanceName, origin: Origin, *, reason: str = "", dry_run: bool = False
    ) -> MigrationPlan:
        return await self.changes.migrate_back(instance, origin, reason=reason, dry_run=dry_run)

    # --- what arrives --------------------------------------------------------------------------------------------

    async def publish(
        self, name: str, key: str, origin: Origin, *, message_id: str = "", ttl_seconds: float = 0,
        data: Mapping[str, Any] | None = None, flags: Flags | None = None, writer: str = "",
    ) -> MessageOutcome:  # fmt: skip
        receipt = await self.messages.publish(
            name, key, origin, message_id=message_id, ttl_seconds=ttl_seconds, data=data, flags=flags, writer=writer
        )  # fmt: skip
        return receipt.outcome

    async def correlate(
        self, name: str, key: str, origin: Origin, *, message_id: str = "", data: Mapping[str, Any] | None = None,
        flags: Flags | None = None, writer: str = "",
    ) -> MessageOutcome:  # fmt: skip
        receipt = await self.messages.correlate(
            name, key, origin, message_id=message_id, data=data, flags=flags, writer=writer
        )  # fmt: skip
        return receipt.outcome

    async def signal(
        self, name: str, origin: Origin, *, message_id: str = "", data: Mapping[str, Any] | None = None,
        flags: Flags | None = None, writer: str = "",
    ) -> int:  # fmt: skip
        told = await self.messages.signal(name, origin, message_id=message_id, data=data, flags=flags, writer=writer)
        return told.reached

    # --- people --------------------------------------------------------------------------------------------------

    def complete_task(
        self, instance: InstanceName, node: int, origin: Origin, *, data: Mapping[str, Any] | None = None,
        flags: Flags | None = None, writer: str = "", message_id: str = "", override: str = "",
        until: Until = "committed",
    ) -> Coroutine[Any, Any, Aggregate]:  # fmt: skip
        return self.people.complete_task(
            instance, node, origin, data=data, flags=flags, writer=writer, message_id=message_id, override=override,
            until=until,
        )  # fmt: skip

    async def claim_task(
        self, instance: InstanceName, node: int, origin: Origin, *, release: bool = False, override: str = ""
    ) -> Aggregate:
        return await self.people.claim_task(instance, node, origin, release=release, override=override)

    async def delegate_task(
        self, instance: InstanceName, node: int, origin: Origin, *, to: str, override: str = ""
    ) -> Aggregate:
        return await self.people.delegate_task(instance, node, origin, to=to, override=override)

    async def reassign_task(
        self, instance: InstanceName, node: int, origin: Origin, *, to: str = "", groups: str = "", override: str = ""
    ) -> Aggregate:
        return await self.people.reassign_task(instance, node, origin, to=to, groups=groups, override=override)

    async def retry_incident(
        self, instance: InstanceName, node: int, origin: Origin, *, flags: Flags | None = None, reason: str = ""
    ) -> Aggregate:
        return await self.people.retry_incident(instance, node, origin, flags=flags, reason=reason)

    async def resolve_incident(
        self, instance: InstanceName, node: int, origin: Origin, *, data: Mapping[str, Any] | None = None,
        flags: Flags | None = None, error: str = "", reason: str = "",
    ) -> Aggregate:  # fmt: skip
        return await self.people.resolve_incident(
            instance, node, origin, data=data, flags=flags, error=error, reason=reason
        )  # fmt: skip
