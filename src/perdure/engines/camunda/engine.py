"""The Camunda engine: the parts of the embedded engine, and Camunda 8 in the place of its token game."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.deployed_process import Deployed, Profile
from perdure.bpmn.model import Model
from perdure.engine import Capabilities, Deployment, EngineStatus, JobStream, Judged
from perdure.engines.camunda.address import read_address
from perdure.engines.camunda.carried_commands import CarriedCommands
from perdure.engines.camunda.carried_model import TASK_JOB, portability
from perdure.engines.camunda.carrier_moves import CarrierMoves
from perdure.engines.camunda.definition_deployment import DefinitionDeployment
from perdure.engines.camunda.dispatch_rows import DISPATCH, DispatchRows
from perdure.engines.camunda.exporter_tail import ExporterTail
from perdure.engines.camunda.fact_delivery import FACT, FactDelivery
from perdure.engines.camunda.job_worker import JobWorker
from perdure.engines.camunda.key_rows import KeyRows
from perdure.engines.camunda.recovery import CarriedRecovery
from perdure.engines.camunda.rest_client import RestClient
from perdure.engines.camunda.server_check import check_cluster
from perdure.engines.embedded.engine import EmbeddedEngine
from perdure.engines.embedded.ports import EngineStore
from perdure.engines.instance_carrier import CAMUNDA_MARK, mark_store
from perdure.errors import DefinitionError, EngineSettingError, EngineUnavailableError
from perdure.journal import Origin
from perdure.processes.instance_reader import InstanceReader
from perdure.processes.wait_schemas import Forms
from perdure.runbooks.executor.call_executor import CallExecutor
from perdure.runbooks.executor.recovery import Recovery
from perdure.sources import SECOND, Sources, SystemSources

PAUSE = 2 * SECOND
CAN = Capabilities(
    migrate=True, delegate=True, start_once=True, message_once=True, message_outcome=True, until=True,
)  # fmt: skip
log = logging.getLogger("perdure")


class CamundaEngine(EmbeddedEngine):
    """One per process."""

    name = "camunda"
    capabilities = CAN

    def __init__(
        self, url: str, conductor: CallExecutor, upkeep: Recovery, store: EngineStore, reader: InstanceReader,
        forms: Forms, sources: Sources,
    ) -> None:  # fmt: skip
        super().__init__(conductor, upkeep, store, reader, forms, sources)
        self.address = address = read_address(url)
        self._store, self._sources = store, sources
        waits = SystemSources()  # waiting for a server takes the machine's time, whatever a test says it is
        self._waits = waits
        self.client = RestClient(address, waits)
        keys = KeyRows(store, sources)
        self.deployment = DefinitionDeployment(reader.definitions, keys, self.client)
        rows = DispatchRows(store, conductor.kernel, sources)
        self.commands = CarriedCommands(
            reader, store, rows, keys, self.deployment, self.client, conductor.lease, sources, waits
        )
        reader.carry(self.commands)
        self.instances.given_up.append(self.commands.is_over)
        recovery = CarriedRecovery(self.instances, self.workshop, self.changes, self.commands)
        upkeep.join(INSTANCE, recovery)
        upkeep.receive((DISPATCH,), recovery.resend)
        self.facts = FactDelivery(self.commands, keys, conductor.kernel, store, address.tenant, sources, waits)
        upkeep.receive((FACT,), self.facts.deliver)
        self.move = CarrierMoves(self.instances, self.commands, keys).move
        self.worker = JobWorker(self.instances, self.workshop, self.commands, keys, self.client, waits)
        self.tail = ExporterTail(address.tail, self.facts.keep, waits) if address.tail else None
        self.drain = self._drained
        self.enter = self._enter
        engine: Any = self
        engine.judge, engine.deploy = self._judge, self._deploy
        self._opening: asyncio.Task[None] | None = None
        self._serving: asyncio.Task[None] | None = None

    # --- opening -------------------------------------------------------------------------------------------------

    async def status(self) -> EngineStatus:
        """Asked of the cluster, within seconds."""
        try:
            return EngineStatus(url=self.address.text, version=await check_cluster(self.client))
        except (EngineUnavailableError, EngineSettingError) as error:
            return EngineStatus(url=self.address.text, is_reachable=False, reason=error.fact)

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
        await self._serve_known()

    async def _begin_later(self) -> None:
        while True:
            await self._waits.sleep(PAUSE)
            try:
                return await self._begin()
            except EngineUnavailableError as error:
                log.debug("%s", error)

    async def _serve_known(self) -> None:
        """Poll for the jobs of every version that is deployed here."""
        origin = Origin(self.address.tenant)
        for latest in await self.definitions.latest(origin):
            for version in await self.definitions.versions(latest.process, origin):
                hash = bytes.fromhex(version.hash.removeprefix("sha256:"))
                definition = await self.definitions.stored(latest.process, hash, origin.tenant)
                if definition is not None:
                    self._serve(definition.deployed)

    def _serve(self, deployed: Deployed) -> None:
        self.worker.serve((*self._served(deployed), TASK_JOB), [flag.name for flag in deployed.flags])

    def _served(self, deployed: Deployed) -> Iterable[str]:
        serves = self.instances.conductor.serves
        for type, binding in deployed.bindings.items():
            if serves(binding.verb, binding.version, binding.definition) is not None:
                yield type

    def jobs(self, types: Sequence[str]) -> JobStream:
        """The jobs of some types from now on, in place of the handlers of this process."""
        stream = super().jobs(types)
        self._serving = asyncio.create_task(self._serve_known())
        return stream

    async def close(self) -> None:
        begun = [task for task in (self._opening, self._serving) if task is not None]
        for task in begun:
            task.cancel()
        await asyncio.gather(*begun, return_exceptions=True)
        await self.worker.close()
        await self.commands.stop()
        if self.tail is not None:
            await self.tail.close()
        await self.facts.close()
        await self.client.close()

    async def _drained(self) -> None:
        await self.commands.drain()
        await self.messages.drain()

    # --- deploying -----------------------------------------------------------------------------------------------

    async def _judge(
        self, model: Model, origin: Origin, *, process: str = "", profile: Profile = "hollow",
        deployed: Deployed | None = None, along: Collection[str] = (),
    ) -> Judged:  # fmt: skip
        """Also by what that release of Camunda can carry."""
        judged = await self.definitions.judge(
            model, origin, process=process, profile=profile, deployed=deployed, along=along
        )
        if problems := portability(judged.deployed, self.address, model.file):
            raise DefinitionError(problems)
        return judged

    async def _enter(self, judged: Judged, origin: Origin) -> Deployment:
        """Deploy there first: what Camunda refuses is not deployed here. One that is away gets it with a start."""
        try:
            await self.deployment.send(judged.deployed)
        except EngineUnavailableError as error:
            log.warning("%s The process is sent there with its first start.", error)
        entered = await self.definitions.enter(judged, origin)
        self._serve(judged.deployed)
        return entered

    async def _deploy(
        self, model: Model, origin: Origin, *, process: str = "", profile: Profile = "hollow",
        deployed: Deployed | None = None,
    ) -> Deployment:  # fmt: skip
        judged = await self._judge(model, origin, process=process, profile=profile, deployed=deployed)
        return await self._enter(judged, origin)
