"""The instance reader: instances as our journal holds them, whichever engine carries them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from perdure.bpmn.machine.aggregate_ids import INDEX, INSTANCE
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.state import Instance
from perdure.engine import InstanceName, LifecycleEvent, Told
from perdure.errors import RejectedError, Rejection
from perdure.human_tasks import ShownDocuments
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Kernel
from perdure.processes.definitions import Definitions
from perdure.processes.instance_waiters import Followers
from perdure.processes.known_values import Asked, EarlierAnswers
from perdure.processes.lifecycle_events import follow
from perdure.processes.payloads import Payloads
from perdure.processes.plan_cache import Definition
from perdure.processes.ports import FROM_THE_NEWEST, InstanceCommands, ProcessReads
from perdure.sources import Id, id_text, parse_id


class InstanceReader:
    """One per process of the platform. Engines and readers share it, so that what one has in memory serves both."""

    def __init__(self, kernel: Kernel, store: ProcessReads, definitions: Definitions) -> None:
        machine = kernel.machine(INSTANCE)
        assert isinstance(machine, InstanceMachine)
        self.kernel = kernel
        self.machine = machine
        self.definitions = definitions
        self.payloads = Payloads(store)
        self.answers = EarlierAnswers(self.payloads)
        self.followers = Followers(kernel, self.read)
        self.commands: InstanceCommands = kernel
        self._store = store
        self.shown_documents: ShownDocuments | None = None
        kernel.leave(self.payloads.forget)

    def carry(self, commands: InstanceCommands) -> None:
        """Let a carrier decide what instances are asked."""
        self.commands = self.followers.commands = commands

    async def read(self, instance: InstanceName, origin: Origin) -> Aggregate:
        try:
            return _instance(await self.kernel.read(instance_id(instance), origin))
        except RejectedError as error:
            raise missing_instance(error) from None

    async def read_or_recall(self, id: Id, origin: Origin) -> Aggregate:
        """The instance as this process last committed it, or as stored; never something that is no instance."""
        try:
            return _instance(await self.kernel.recall(id, origin))
        except RejectedError as error:
            raise missing_instance(error) from None

    async def newest(
        self, origin: Origin, *, process: str = "", status: str = "", business_key: str = "", after: bytes = b"",
        most: int = 100,
    ) -> list[Aggregate]:  # fmt: skip
        """Instances, newest first, those before the id `after`; of one process or in one status, or of any."""
        before = after or FROM_THE_NEWEST
        if process or business_key:
            field, value = ("business_key", business_key) if business_key else ("process", process)
            rows = await self._store.indexed(origin.tenant, INDEX, field, value, before, most)
        else:
            rows = await self._store.aggregates(origin.tenant, INSTANCE, status, before, most)
        found = [await self.read(row.id, origin) for row in rows if not status or row.status == status]
        return [each for each in found if not process or each.state.process == process]

    def definition(self, aggregate: Aggregate) -> Definition:
        """The definition of an instance, from memory; MissingPlan when it has to be loaded first."""
        return self.definitions.plans.definition(aggregate.state.definition)

    def known_definition(self, aggregate: Aggregate) -> Definition | None:
        """The same, or None when it is not in memory."""
        return self.definitions.plans.find(aggregate.state.definition)

    async def loaded(self, aggregate: Aggregate) -> Definition:
        """The definition an instance is pinned to."""
        state: Instance = aggregate.state
        return await self.definitions.load(state.process, state.definition, aggregate.tenant)

    async def documents_shown(self, aggregate: Aggregate) -> bytes:
        """The hash of the documents that the data of an instance refer to; empty where they refer to none."""
        if self.shown_documents is None:
            return b""
        return await self.shown_documents(aggregate.tenant, lambda: self.data(aggregate))

    async def data(self, aggregate: Aggregate) -> Any:
        """The data of an instance now; None once it was erased."""
        if aggregate.state.erased_at:
            return None
        return (await self.payloads.open(aggregate.id, aggregate.state.head)).data

    def known_data(self, aggregate: Aggregate) -> Any:
        """The same from memory; None when it is not there."""
        state: Instance = aggregate.state
        held = self.payloads.find(aggregate.id, state.head) if not state.erased_at else None
        return held.data if held is not None else None

    async def load_answers(self, aggregate: Aggregate, asked: Asked) -> dict[str, Any]:
        """The fields that earlier answers to a wait, or to its intake, brought."""
        history = await self.history(aggregate.id, Origin(aggregate.tenant))
        return await self.answers.load(aggregate, asked, history)

    def follow(self, origin: Origin, position: int = 0) -> AsyncIterator[LifecycleEvent]:
        """Everything that happens to instances of a tenant after a position of the journal."""
        return follow(self._store, self.machine, origin, position)

    async def history(self, instance: InstanceName, origin: Origin, after: int = 0) -> list[Told]:
        """The records of an instance after a sequence, one element per command, their chain checked."""
        aggregate = await self.read(instance, origin)
        told = []
        async for row in self._store.history(aggregate, after):
            record = self.machine.records.decode(row.body)
            told.append(Told(row.sequence, record.at, record.entries))
        return told


def instance_id(instance: InstanceName) -> Id:
    return parse_id(instance, "instance") if isinstance(instance, str) else instance


def missing_instance(error: RejectedError) -> RejectedError:
    """The kernel knows ids only: what is missing here is an instance."""
    if error.rejection.code != "not_found" or error.rejection.thing != "call":
        return error
    fact = "there is no such instance"
    return RejectedError(Rejection("not_found", "find", "instance", error.rejection.id, fact))


def _instance(aggregate: Aggregate) -> Aggregate:
    if aggregate.kind != INSTANCE:
        fact = "that is the id of something else"
        raise RejectedError(Rejection("not_found", "find", "instance", id_text(aggregate.id), fact))
    return aggregate
