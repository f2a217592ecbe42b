"""The embedded engine: the engine contract over our own kernel and store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from perdure.bpmn.machine.aggregate_ids import INSTANCE, PROCESS
from perdure.engine import (
    EVERYTHING,
    MESSAGE,
    SIGNAL,
    EngineSettings,
    EngineStatus,
    Flags,
    HostBuilds,
    InstanceName,
    JobStream,
    MovePlan,
    NamedEngine,
    StartRequest,
    Until,
)
from perdure.engines.command_router import CommandRouter
from perdure.engines.embedded.human_tasks import HumanTasks
from perdure.engines.embedded.instances.instance_changes import InstanceChanges
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.embedded.job_streams import EmbeddedJobStream
from perdure.engines.embedded.jobs.job_leases import JobLeases
from perdure.engines.embedded.messages.correlation import Messages
from perdure.engines.embedded.messages.message_payload import MessageIntake
from perdure.engines.embedded.messages.ports import MessageTargets
from perdure.engines.embedded.outbox import Outbox
from perdure.engines.embedded.ports import EngineStore
from perdure.engines.embedded.recovery import InstanceRecovery, ProcessRecovery
from perdure.engines.instance_carrier import EMBEDDED, InstanceCarriers, is_marked
from perdure.errors import RejectedError, Rejection
from perdure.identifiers import check_key
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.processes.instance_reader import InstanceReader, instance_id
from perdure.processes.wait_schemas import Forms
from perdure.runbooks.executor.call_executor import CallExecutor
from perdure.runbooks.executor.recovery import Recovery
from perdure.runbooks.machine.state import Pin
from perdure.sources import Id, Sources, id_text
from perdure.verbs import Verb

MoveInstance = Callable[..., Coroutine[Any, Any, MovePlan]]
HERE = NamedEngine(name=EMBEDDED)


class EmbeddedEngine:
    """One per process, beside the conductor whose kernel, lease and jobs it shares.

    Calls of the contract are those of its parts; only `start` has something of its own to check.
    """

    name = EMBEDDED
    capabilities = EVERYTHING

    def __init__(
        self, conductor: CallExecutor, upkeep: Recovery, store: EngineStore, reader: InstanceReader, forms: Forms,
        sources: Sources,
    ) -> None:  # fmt: skip
        self._is_shared: bool | None = None
        self.instances = Instances(conductor, store, reader, sources)
        self.definitions = definitions = reader.definitions
        self.carriers = InstanceCarriers(conductor.kernel, store)
        self.workshop = JobLeases(self.instances)
        arrivals = MessageIntake(self.instances, forms)
        mail = MessageTargets(self.instances, arrivals)
        people = HumanTasks(self.instances, arrivals)
        self.changes = changes = InstanceChanges(self.instances)
        self.messages = messages = Messages(
            conductor.kernel, store, reader.machine, sources, ask=self.instances.ask, merge=mail.merge, start=mail.start
        )
        self.notices = Outbox(self.instances, changes, messages)
        upkeep.join(INSTANCE, InstanceRecovery(self.instances, self.workshop, changes))
        upkeep.join(PROCESS, ProcessRecovery(self.instances))
        upkeep.receive(self.notices.kinds, self.notices.deliver)
        upkeep.receive((MESSAGE, SIGNAL), self._go_on)
        conductor.carry(self._carrier)

        self.deploy, self.judge, self.enter = definitions.deploy, definitions.judge, definitions.enter
        self.retire, self.deprecate = definitions.retire, definitions.deprecate
        self.cancel, self.suspend, self.resume = changes.cancel, changes.suspend, changes.resume
        self.set_budget = changes.set_budget
        self.modify, self.erase = changes.modify, changes.erase
        self.note_on_task = changes.note_on_task
        self.migrate, self.migrate_back = changes.migrate, changes.migrate_back
        self.publish, self.correlate = messages.publish, messages.correlate
        self.signal, self.replay = messages.signal, messages.replay
        self.follow = reader.follow
        self.move: MoveInstance = self._move
        self.sweep, self.drain = messages.sweep, messages.drain
        self.complete_task, self.claim_task = people.complete_task, people.claim_task
        self.delegate_task, self.reassign_task = people.delegate_task, people.reassign_task
        self.retry_incident, self.resolve_incident = people.retry_incident, people.resolve_incident

    @property
    def engines(self) -> Sequence[NamedEngine]:
        return (HERE,)

    def place(self, process: str, tenant: str) -> NamedEngine:
        """It begins every instance itself."""
        return HERE

    async def carrier(self, instance: InstanceName) -> NamedEngine:
        """Itself, unless an engine outside began the instance, under whatever settings the store had then."""
        name = await self.carriers.of(instance_id(instance)) if await self._has_others() else ""
        return self._named(name)

    def carrier_at_hand(self, instance: Id) -> NamedEngine | None:
        """Known as long as no engine outside has had a part in the store, and of what was asked for before."""
        is_here = self._is_shared is False or self.carriers.known(instance) == ""
        return HERE if is_here else None

    def _named(self, name: str) -> NamedEngine:
        return NamedEngine(name=name, is_known=False) if name else HERE

    async def _has_others(self) -> bool:
        """Whether an engine outside ever carried instances of the store."""
        if self._is_shared is None:
            self._is_shared = await is_marked(self.instances.store)
        return self._is_shared

    async def link(self, aggregate: Aggregate) -> str:
        """Pages of ours show it."""
        return ""

    async def host_builds(self, instances: Sequence[Aggregate]) -> HostBuilds:
        """Whoever decides is this release; nobody here can ask an engine outside that once had a part in the store."""
        if not await self._has_others():
            return HostBuilds()
        carried = Counter([await self.carriers.of(each.id) for each in instances])
        unknown = [not_named(name, count).unknown for name, count in carried.items() if name]
        return HostBuilds((), tuple(told for each in unknown for told in each))

    async def status(self, name: str = "") -> EngineStatus:
        """It is this process and its store."""
        return EngineStatus(version=version("perdure"))

    async def open(self) -> None:
        """Refuse from now on what an engine outside carries, in a store that was once opened with one."""
        instances = self.instances
        if await self._has_others():
            router = CommandRouter(instances.kernel, instances.store, self.carriers, {}, EngineSettings())
            instances.reader.carry(router)

    async def close(self) -> None:
        """The kernel and the store are closed by whoever opened them."""

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

    async def _move(
        self, instance: InstanceName, origin: Origin, to: str, *, reason: str = "", dry_run: bool = False,
        shadow: bool = False,
    ) -> MovePlan:  # fmt: skip
        aggregate = await self.instances.read(instance_id(instance), origin)
        fact = f"this process was opened with the engine '{self.name}' alone"
        hint = "Name the other one under 'engines' in perdure.yaml."
        raise RejectedError(Rejection("blocked", "move", "instance", id_text(aggregate.id), fact, hint))

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


def not_named(engine: str, count: int) -> HostBuilds:
    """Nothing can be told of instances whose engine the settings of this process do not name."""
    return HostBuilds((), (f"{count:,} instances are carried by '{engine}', which is not named here",))
