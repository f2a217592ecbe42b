"""The Temporal carrier: one engine of Temporal under its name, beside the parts it shares with every engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.journal_entries import JobStarted
from perdure.engine import EVERYTHING, EngineStatus, HostBuilds, NamedEngine
from perdure.engine.engine_settings import EngineEntry
from perdure.engines.embedded.engine import EmbeddedEngine
from perdure.engines.temporal.activities import CarrierActivities
from perdure.engines.temporal.address import read_address
from perdure.engines.temporal.carried_commands import CarriedCommands
from perdure.engines.temporal.carried_moves import WorkflowMoves
from perdure.engines.temporal.carrier_worker import CarrierWorker
from perdure.engines.temporal.dispatch_rows import DISPATCH, DispatchRows
from perdure.engines.temporal.host_builds import WorkflowBuilds
from perdure.engines.temporal.journal_follower import JournalFollower
from perdure.engines.temporal.server_check import server_version
from perdure.engines.temporal.task_queue import own_queue
from perdure.engines.temporal.workflow_client import WorkflowClient, workflow_id
from perdure.errors import EngineSettingError, EngineUnavailableError, Problem
from perdure.kernel.kernel import Aggregate
from perdure.sources import Id
from perdure.work.ports import TimerFound


class TemporalCarrier:
    """One per name. What our kernel could decide, a workflow can: every process that is deployed is carried."""

    kinds = frozenset({DISPATCH})

    def __init__(self, name: str, entry: EngineEntry, parts: EmbeddedEngine) -> None:
        instances, workshop = parts.instances, parts.workshop
        store, sources, kernel = instances.store, instances.sources, instances.kernel
        self.client = WorkflowClient(read_address(entry.url), name)
        self.place = self.client.address.text
        self.named = NamedEngine(name=name, url=self.place, ui=entry.ui.rstrip("/"), capabilities=EVERYTHING)
        rows = DispatchRows(store, sources, name)
        self.rows: tuple[str, ...] = (rows.begins,)
        self._rows, self._workshop, self._store, self._sources = rows, workshop, store, sources
        self.follower = JournalFollower(kernel, store, rows, parts.carriers, name)
        self.follower.on_known.append(self._begin_leased)
        self.commands = CarriedCommands(
            name, kernel, store, parts.definitions, rows, self.follower, self.client, parts.carriers,
            instances.conductor.lease, sources,
        )  # fmt: skip
        self.moves = WorkflowMoves(self.commands, rows, self.client)
        instances.given_up.append(self.commands.is_over)
        activities = CarrierActivities(instances, workshop, self.follower)
        self._worker = CarrierWorker(self.client, activities.all, sources)

    def _begin_leased(self, aggregate: Aggregate, entries: Any) -> None:
        for entry in entries:
            if isinstance(entry, JobStarted):
                self._workshop.begin(aggregate, entry)

    def tenant_fault(self, tenant: str) -> str:
        """It carries every tenant."""
        return ""

    async def open(self) -> None:
        """Begin to work for the namespace, once its server answers."""
        self.client.queue = await own_queue(self._store, self._sources)
        await self._worker.open()

    async def close(self) -> None:
        await self._worker.close()

    async def status(self) -> EngineStatus:
        """Asked of the server, within seconds."""
        try:
            return EngineStatus(url=self.place, version=await server_version(await self.client.connected()))
        except (EngineUnavailableError, EngineSettingError) as error:
            return EngineStatus(url=self.place, is_reachable=False, reason=error.fact)

    async def has_open_start(self, id: Id, tenant: str) -> bool:
        return await self._rows.is_open(tenant, self._rows.start_name(id))

    async def receive(self, tenant: str, message_id: str, kind: str, aggregate: Id) -> bool:
        """Send a dispatch again that was left behind, once the server answers."""
        return await self.commands.resend(tenant, message_id)

    def leaves_timer(self, timer: TimerFound) -> bool:
        """The workflow has them all."""
        return False

    def problems(self, deployed: Deployed, tenant: str, file: str = "") -> list[Problem]:
        """It carries every process of every tenant."""
        return []

    async def send(self, deployed: Deployed) -> None:
        """A workflow gets the process with its start."""

    def serve(self, deployed: Deployed | None = None) -> None:
        """Its activities ask at each job."""

    async def host_builds(self, instances: Sequence[Aggregate]) -> HostBuilds:
        """By the server and the histories it keeps."""
        return await WorkflowBuilds(self.named.name, self.client, self._store).look(instances)

    async def link(self, aggregate: Aggregate) -> str:
        """The workflow in Temporal's own interface."""
        state = aggregate.state
        name = workflow_id(aggregate.id, state.carrier_run if state.carrier == self.named.name else "")
        return f"{self.named.ui}/namespaces/{quote(self.client.address.namespace, safe='')}/workflows/{name}"
