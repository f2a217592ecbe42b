"""The outbox: one aggregate notifies another, delivered at least once and applied once.

| notice | what it leads to |
|---|---|
| process_asked | a call's step is carried by a process: its instance begins |
| process_over | the step ended in another way: its instance is cancelled |
| thrown: message, signal | published under the notice's own id |
| thrown: call, cancel_call | an instance of the called process begins, or is cancelled |
| hold | what a suspended instance calls is suspended as well |
| thrown: escalation | the call activity that began the instance hears it |
| instance_told | an incident, or its end: the journal of the call it carries says so |
| instance_ended | the step or the call activity that began it ends |
| start_fired | a start timer: an instance begins |
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

from perdure.bpmn.machine.instance_machine import INSTANCE_ENDED, INSTANCE_TOLD, THROWN, THROWN_TTL_SECONDS
from perdure.bpmn.machine.journal_entries import Thrown
from perdure.bpmn.machine.process_machine import START_FIRED, ProcessState
from perdure.bpmn.machine.state import Instance
from perdure.engine import StartRequest, Vet
from perdure.engines.embedded.instances.call_activities import Calls
from perdure.engines.embedded.instances.durable_calls import DurableCalls
from perdure.engines.embedded.instances.instance_changes import HOLD, InstanceChanges
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.embedded.messages.correlation import Messages
from perdure.engines.embedded.messages.envelope import thrown_id
from perdure.errors import PerdureError, RejectedError, Rejection
from perdure.journal import Notice, Origin
from perdure.journal.notice_routes import StartRoute, ThrownRoute, read_route
from perdure.kernel.kernel import Aggregate
from perdure.kernel.ports import PENDING, Attachments
from perdure.payload import digest
from perdure.runbooks.machine.runbook_machine import PROCESS_ASKED, PROCESS_OVER
from perdure.sources import Id, id_text

PLATFORM = "perdure"
RECENT = 20
"""How many of the newest records are looked through first for what was thrown."""
MANY = 100
"""What was found of an instance that has thrown so many is kept: one command may throw thousands."""
Name = tuple[Id, str, int]
PAYLOAD = "payload"
"""The property of a throwing element that names the fields its message carries."""


class Outbox:
    """Delivers at once what this process commits; upkeep delivers what others left."""

    def __init__(self, instances: Instances, changes: InstanceChanges, messages: Messages) -> None:
        self._instances = instances
        self._changes = changes
        self._messages = messages
        self._calls = Calls(instances, changes)
        self._steps = DurableCalls(instances, changes)
        self._deliveries: dict[str, Callable[[str, str, Id, Any], Awaitable[bool]]] = {
            PROCESS_ASKED: self._steps.asked,
            PROCESS_OVER: self._steps.over,
            THROWN: self._thrown,
            HOLD: self._hold,
            INSTANCE_ENDED: self._ended,
            INSTANCE_TOLD: self._steps.told,
            START_FIRED: self._start_fired,
        }
        self._under_way: set[tuple[str, str]] = set()
        self._many: dict[Name, Thrown] = {}
        self._looks: WeakValueDictionary[Id, asyncio.Lock] = WeakValueDictionary()
        """Whoever looks for what an instance has thrown, so that others find it there and need not look."""
        instances.kernel.notice(self._on_notices)

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(self._deliveries)

    def _on_notices(self, aggregate: Aggregate, notices: Sequence[Notice]) -> None:
        for notice in notices:
            if notice.kind in self._deliveries:
                self._under_way.add((aggregate.tenant, notice.message_id))
                name = (digest(notice.message_id.encode()), 0, 0, 0)
                work = self._at_once(aggregate.tenant, notice, aggregate.id)
                self._instances.conductor.submit(name, work)

    def _at_once(self, tenant: str, notice: Notice, id: Id) -> Callable[[], Any]:
        message_id, kind, route = notice

        async def work() -> None:
            try:
                await self._deliveries[kind](tenant, message_id, id, route)
            except PerdureError:
                return  # it stays in the inbox, and upkeep delivers it
            finally:
                self._under_way.discard((tenant, message_id))

        return work

    async def deliver(self, tenant: str, message_id: str, kind: str, aggregate: Id) -> bool:
        """Act on a notice that is still open; False when it has to wait, or is being acted on."""
        if (tenant, message_id) in self._under_way:
            return False
        message = await self._instances.store.message(tenant, message_id)
        if message is None or message.status != PENDING:
            return False
        route = read_route(kind, message_id, message.body)
        return await self._deliveries[kind](tenant, message_id, aggregate, route)

    # --- thrown --------------------------------------------------------------------------------------------------

    async def _thrown(self, tenant: str, message_id: str, id: Id, route: ThrownRoute) -> bool:
        origin = Origin(tenant, PLATFORM)
        kind, number = route.kind, route.number
        aggregate = await self._instances.read(id, origin)
        if kind == "cancel_call":
            return await self._calls.cancel(aggregate, number, message_id)
        thrown = await self._find_thrown(aggregate, kind, number, origin)
        if kind == "call":
            return await self._calls.begin(aggregate, thrown, message_id)
        if kind == "escalation":
            return await self._calls.escalate(aggregate, thrown, message_id)
        settles = Attachments(settles=(tenant, message_id))
        data = await self._carried(aggregate, thrown.element)
        own = thrown_id(message_id)
        vet = self._agreed(aggregate.state, origin)
        if kind == "message":
            await self._messages.publish(
                thrown.name, thrown.key, origin, message_id=own, ttl_seconds=THROWN_TTL_SECONDS, data=data,
                thrower=id_text(id), vet=vet,
            )  # fmt: skip
        else:
            await self._messages.signal(thrown.name, origin, message_id=own, data=data, thrower=id_text(id), vet=vet)
        await self._instances.settle(tenant, settles)
        return True

    def _agreed(self, thrower: Instance, origin: Origin) -> Vet:
        """Refuses to begin what is graver than the start of the instance that threw was agreed to for."""
        definitions = self._instances.definitions

        async def vet(starts: Sequence[Id] = (), waits: Sequence[Id] = (), *, is_kept: bool = False) -> None:
            for id in starts:
                process = await definitions.state(id, origin)
                if process is None:
                    continue
                if fact := await definitions.consequences.too_grave(thrower.agreed, process.process, origin):
                    raise RejectedError(Rejection("blocked", "begin", "process", process.process, fact))

        return vet

    async def _find_thrown(self, aggregate: Aggregate, kind: str, number: int, origin: Origin) -> Thrown:
        name = (aggregate.id, kind, number)
        async with self._looks.setdefault(aggregate.id, asyncio.Lock()):
            if (known := self._many.get(name)) is not None:
                return known
            # Mostly it was thrown just now: what throws in a loop would else be read from its start each time.
            for after in (max(0, aggregate.version - RECENT), 0):
                found = await self._all_thrown(aggregate, after, origin)
                if len(found) >= MANY:
                    self._many = found
                if name in found:
                    return found[name]
        raise AssertionError(f"instance {id_text(aggregate.id)} threw nothing under {kind} {number}")

    async def _all_thrown(self, aggregate: Aggregate, after: int, origin: Origin) -> dict[Name, Thrown]:
        told = await self._instances.history(aggregate.id, origin, after)
        thrown = [entry for each in told for entry in each.entries if isinstance(entry, Thrown)]
        return {(aggregate.id, entry.kind, entry.number): entry for entry in thrown}

    async def _carried(self, aggregate: Aggregate, element: str) -> dict[str, Any] | None:
        """The fields that the throwing element says its message carries; `*` is all of them."""
        definition = await self._instances.loaded(aggregate)
        node = definition.elements.get(element)
        names = (node.properties.get(PAYLOAD) or "") if node is not None else ""
        if not names or aggregate.state.erased_at:
            return None
        data = await self._instances.data(aggregate)
        wanted = {name.strip() for name in names.split(",")}
        return data if wanted == {"*"} else {name: data[name] for name in data if name in wanted}

    async def _hold(self, tenant: str, message_id: str, id: Id, route: None) -> bool:
        return await self._calls.hold(await self._instances.read(id, Origin(tenant, PLATFORM)), message_id)

    # --- ends and starts -----------------------------------------------------------------------------------------

    async def _ended(self, tenant: str, message_id: str, id: Id, route: None) -> bool:
        child = await self._instances.read(id, Origin(tenant, PLATFORM))
        state: Instance = child.state
        kind, _, parent = state.parent.partition(":")
        if kind == "step":
            return await self._steps.ended(child, parent, message_id)
        return await self._calls.ended(child, parent, message_id)

    async def _start_fired(self, tenant: str, message_id: str, id: Id, route: StartRoute) -> bool:
        origin = Origin(tenant, PLATFORM)
        state: ProcessState = (await self._instances.kernel.read(id, origin)).state
        start = state.versions[route.version - 1].starts[route.index]
        request = StartRequest(process=state.process, version=route.version, start=start.event)
        brought = Attachments(settles=(tenant, message_id))
        instance = Id(digest(f"{tenant}\0{message_id}".encode())[:16])
        await self._instances.start(request, origin, id=instance, brought=brought, is_pinned=True)
        return True
