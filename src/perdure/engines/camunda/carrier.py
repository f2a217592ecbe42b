"""The Camunda carrier: one cluster of Camunda 8 under its name, beside the parts it shares with every engine."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence

from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.human_tasks import LADDER
from perdure.engine import Capabilities, EngineStatus, HostBuilds, NamedEngine
from perdure.engine.engine_settings import EngineEntry
from perdure.engines.camunda.address import read_address
from perdure.engines.camunda.carried_commands import CarriedCommands
from perdure.engines.camunda.carried_model import TASK_JOB, portability
from perdure.engines.camunda.carried_moves import ProcessInstanceMoves
from perdure.engines.camunda.definition_deployment import DefinitionDeployment
from perdure.engines.camunda.dispatch_rows import DISPATCH, DispatchRows
from perdure.engines.camunda.exporter_tail import ExporterTail
from perdure.engines.camunda.fact_delivery import FACT, FactDelivery
from perdure.engines.camunda.job_worker import JobWorker
from perdure.engines.camunda.key_rows import KeyRows
from perdure.engines.camunda.rest_client import RestClient
from perdure.engines.camunda.server_check import check_cluster
from perdure.engines.embedded.engine import EmbeddedEngine
from perdure.engines.instance_carrier import CAMUNDA_MARK, mark_store
from perdure.errors import EngineSettingError, EngineUnavailableError, Problem
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.sources import SECOND, Id, SystemSources
from perdure.work.ports import TimerFound

PAUSE = 2 * SECOND
CAN = Capabilities(
    migrate=True, delegate=True, start_once=True, message_once=True, message_outcome=True, until=True,
)  # fmt: skip
log = logging.getLogger("perdure")


class CamundaCarrier:
    """One per name."""

    kinds = frozenset({DISPATCH, FACT})

    def __init__(self, name: str, entry: EngineEntry, parts: EmbeddedEngine) -> None:
        instances, workshop = parts.instances, parts.workshop
        store, sources, kernel, reader = instances.store, instances.sources, instances.kernel, instances.reader
        self.address = address = read_address(entry.url)
        self.place = f"{address.text} {address.tail}".strip()
        self.named = NamedEngine(name=name, url=address.text, ui=entry.ui.rstrip("/"), capabilities=CAN)
        self._store, self._sources, self._instances = store, sources, instances
        self._parts, self._definitions = parts, parts.definitions
        waits = SystemSources()  # waiting for a server takes the machine's time, whatever a test says it is
        self._waits = waits
        self.client = RestClient(address, waits)
        keys = KeyRows(store, sources, name)
        self.rows: tuple[str, ...] = (keys.begins,)
        self.deployment = DefinitionDeployment(parts.definitions, keys, self.client)
        self._rows = DispatchRows(store, kernel, keys, sources)
        self.commands = CarriedCommands(
            reader, store, self._rows, keys, self.deployment, self.client, parts.carriers, instances.conductor.lease,
            sources, waits,
        )  # fmt: skip
        self.moves = ProcessInstanceMoves(self.commands, self._rows, parts.definitions, instances.machine, address)
        instances.given_up.append(self.commands.is_over)
        self.facts = FactDelivery(self.commands, keys, kernel, store, address.tenant, sources, waits)
        self.worker = JobWorker(instances, workshop, self.commands, keys, self.client, waits)
        self.deployment.on_sent.append(self.serve)
        self.tail = ExporterTail(address.tail, self.facts.keep, waits) if address.tail else None
        self._opening: asyncio.Task[None] | None = None
        self._serving: asyncio.Task[None] | None = None

    # --- opening -------------------------------------------------------------------------------------------------

    async def status(self) -> EngineStatus:
        """Asked of the cluster, within seconds."""
        try:
            return EngineStatus(url=self.address.text, version=await check_cluster(self.client))
        except (EngineUnavailableError, EngineSettingError) as error:
            return EngineStatus(url=self.address.text, is_reachable=False, reason=error.fact)

    def tenant_fault(self, tenant: str) -> str:
        """Names and keys of messages are one space there: a cluster is one tenant's."""
        ours = self.address.tenant
        return "" if tenant == ours else f"it carries tenant '{ours}' only; '{tenant}' needs a cluster of its own"

    async def open(self) -> None:
        """Check the cluster and begin; one that cannot be reached keeps nobody from opening."""
        await mark_store(self._store, CAMUNDA_MARK, self._sources)
        self.worker.open()
        if self.tail is not None:
            await self.tail.open()
        try:
            await self._begin()
        except EngineUnavailableError as error:
            log.warning("%s", error)
            self._opening = asyncio.create_task(self._begin_later())

    async def _begin(self) -> None:
        version = await check_cluster(self.client)
        log.info("Camunda %s at %s carries processes", version, self.address.text)
        await self._serve_sent()

    async def _begin_later(self) -> None:
        while True:
            await self._waits.sleep(PAUSE)
            try:
                return await self._begin()
            except EngineUnavailableError as error:
                log.debug("%s", error)
            except EngineSettingError as error:  # somebody mends it, there or here, and nobody else waits for that
                log.warning("%s", error)

    async def close(self) -> None:
        begun = [task for task in (self._opening, self._serving) if task is not None]
        for task in begun:
            task.cancel()
        await asyncio.gather(*begun, return_exceptions=True)
        await self.worker.close()
        if self.tail is not None:
            await self.tail.close()
        await self.facts.close()
        await self.client.close()

    # --- jobs ----------------------------------------------------------------------------------------------------

    def serve(self, deployed: Deployed | None = None) -> None:
        """Poll for the jobs of a process, or of every one that it may have."""
        if deployed is None:
            self._serving = asyncio.create_task(self._serve_sent())
        else:
            self.worker.serve((*self._served(deployed), TASK_JOB), [flag.name for flag in deployed.flags])

    async def _serve_sent(self) -> None:
        """Poll for the jobs of every version that the cluster has, or is about to get."""
        origin = Origin(self.address.tenant)
        for latest in await self._definitions.latest(origin):
            is_placed = self._parts.place(latest.process, origin.tenant).name == self.named.name
            for version in await self._definitions.versions(latest.process, origin):
                hash = bytes.fromhex(version.hash.removeprefix("sha256:"))
                definition = await self._definitions.stored(latest.process, hash, origin.tenant)
                if definition is not None and (is_placed or await self.deployment.is_sent(definition.deployed)):
                    self.serve(definition.deployed)

    def _served(self, deployed: Deployed) -> Iterable[str]:
        serves = self._instances.conductor.serves
        for type, binding in deployed.bindings.items():
            if serves(binding.verb, binding.version, binding.definition) is not None:
                yield type

    def leaves_timer(self, timer: TimerFound) -> bool:
        """Ladders of tasks are ours; every other timer is Camunda's."""
        return timer.kind == LADDER

    # --- deploying -----------------------------------------------------------------------------------------------

    def problems(self, deployed: Deployed, tenant: str, file: str = "") -> list[Problem]:
        """What that release of Camunda, or this carrier, cannot do."""
        return portability(deployed, self.address, file)

    async def send(self, deployed: Deployed) -> None:
        """Deploy there first: what Camunda refuses is not deployed here. One that is away gets it with a start."""
        try:
            await self.deployment.send(deployed)
        except EngineUnavailableError as error:
            log.warning("%s The process is sent there with its first start.", error)

    # --- what is under way -----------------------------------------------------------------------------------------

    async def has_open_start(self, id: Id, tenant: str) -> bool:
        return await self._rows.is_open(tenant, self._rows.name(id, 1))

    async def receive(self, tenant: str, message_id: str, kind: str, aggregate: Id) -> bool:
        """Send a dispatch again that was left behind, or go on with a fact from Camunda's log."""
        if kind == FACT:
            return await self.facts.deliver(tenant, message_id, kind, aggregate)
        return await self.commands.resend(tenant, message_id)

    async def host_builds(self, instances: Sequence[Aggregate]) -> HostBuilds:
        """Its instances are hosted by its own code."""
        return HostBuilds()

    async def link(self, aggregate: Aggregate) -> str:
        """The process instance in Operate."""
        key = await self.commands.keys.key_of(aggregate.id)
        return f"{self.named.ui}/processes/{key}" if key else ""
