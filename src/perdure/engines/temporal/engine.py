"""The Temporal engine: the parts of the embedded engine, and a workflow in the place of the kernel."""

from __future__ import annotations

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.journal_entries import JobStarted
from perdure.engine import EVERYTHING, EngineStatus
from perdure.engines.embedded.engine import EmbeddedEngine
from perdure.engines.embedded.ports import EngineStore
from perdure.engines.temporal.activities import CarrierActivities
from perdure.engines.temporal.address import read_address
from perdure.engines.temporal.carried_commands import CarriedCommands
from perdure.engines.temporal.carrier_moves import CarrierMoves
from perdure.engines.temporal.carrier_worker import CarrierWorker
from perdure.engines.temporal.dispatch_rows import DISPATCH, DispatchRows
from perdure.engines.temporal.journal_follower import JournalFollower
from perdure.engines.temporal.recovery import CarriedRecovery
from perdure.engines.temporal.server_check import server_version
from perdure.engines.temporal.task_queue import own_queue
from perdure.engines.temporal.workflow_client import WorkflowClient
from perdure.errors import EngineSettingError, EngineUnavailableError
from perdure.processes.instance_reader import InstanceReader
from perdure.processes.wait_schemas import Forms
from perdure.runbooks.executor.call_executor import CallExecutor
from perdure.runbooks.executor.recovery import Recovery
from perdure.sources import Sources


class TemporalEngine(EmbeddedEngine):
    """One per process."""

    name = "temporal"
    capabilities = EVERYTHING

    def __init__(
        self, url: str, conductor: CallExecutor, upkeep: Recovery, store: EngineStore, reader: InstanceReader,
        forms: Forms, sources: Sources,
    ) -> None:  # fmt: skip
        super().__init__(conductor, upkeep, store, reader, forms, sources)
        self.client = WorkflowClient(read_address(url))
        self._store, self._sources = store, sources
        rows = DispatchRows(store, sources)
        self.follower = JournalFollower(conductor.kernel, store, rows)
        self.commands = CarriedCommands(
            conductor.kernel, store, reader.definitions, rows, self.follower, self.client, conductor.lease, sources
        )  # fmt: skip
        reader.carry(self.commands)
        self.instances.given_up.append(self.commands.is_over)
        recovery = CarriedRecovery(self.instances, self.workshop, self.changes, self.commands)
        upkeep.join(INSTANCE, recovery)
        upkeep.receive((DISPATCH,), recovery.resend)
        activities = CarrierActivities(self.instances, self.workshop, self.follower)
        self.move = CarrierMoves(self.instances, self.commands).move
        self._worker = CarrierWorker(self.client, activities.all, sources)
        self.drain = self._drained
        self.follower.on_known.append(self._begin_leased)

    def _begin_leased(self, aggregate: object, entries: object) -> None:
        for entry in entries:  # type: ignore[attr-defined]
            if isinstance(entry, JobStarted):
                self.workshop.begin(aggregate, entry)  # type: ignore[arg-type]

    async def status(self) -> EngineStatus:
        """Asked of the server, within seconds."""
        url = self.client.address.text
        try:
            return EngineStatus(url=url, version=await server_version(await self.client.connected()))
        except (EngineUnavailableError, EngineSettingError) as error:
            return EngineStatus(url=url, is_reachable=False, reason=error.fact)

    async def open(self) -> None:
        self.client.queue = await own_queue(self._store, self._sources)
        await self._worker.open()

    async def close(self) -> None:
        await self.commands.stop()
        await self._worker.close()

    async def _drained(self) -> None:
        await self.commands.drain()
        await self.messages.drain()
