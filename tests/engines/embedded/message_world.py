"""Processes on one store, each with messages over the real machine; data and versions are left to the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import msgspec

from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.execution_plan import Plan
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.model import (
    Event,
    Flow,
    Gateway,
    Message,
    MessageTrigger,
    Process,
    Scope,
    Signal,
    SignalTrigger,
    Task,
    Value,
)
from perdure.engines.embedded.messages.correlation import Messages
from perdure.engines.embedded.messages.envelope import CorrelationFailed, MessageEnvelope
from perdure.errors import RejectedError, Rejection
from perdure.journal import Origin, ParkedRow, Rows
from perdure.kernel.kernel import Aggregate, Kernel, Preparation, Prepared
from perdure.kernel.ports import Attachments, WaitFound
from perdure.payload import canonical, digest
from perdure.sources import Id
from perdure.store.ports import Driver
from perdure.store.store import Store
from perdure.testing.sandbox import quiet_driver
from perdure.testing.virtual_clock import VirtualSources
from tests.conformance.stores import id_of, unit_of

ORIGIN = Origin("tenant", "sender")
DOCUMENTS, WITHDRAWN, ALARM = MessageTrigger("m"), MessageTrigger("w"), SignalTrigger("s")
BEGIN, END = Event(id="begin", position="start"), Event(id="end", position="end")


def deployed(name: str, *nodes: Any, flows: list[tuple[str, str]] | None = None) -> Deployed:
    """Nodes one after the other, unless flows say otherwise."""
    pairs = flows or [(left.id, right.id) for left, right in pairwise(nodes)]
    return Deployed(
        process=Process(id=name, body=Scope(
            nodes=nodes, flows=tuple(Flow(id=f"{a}-{b}", source=a, target=b) for a, b in pairs),
        )),
        messages=(
            Message(id="m", name="documents", correlation=Value("orch_case", "flag")),
            Message(id="w", name="withdrawn", correlation=Value("orch_case", "flag")),
        ),
        signals=(Signal(id="s", name="alarm"),), is_loose=True,
    )  # fmt: skip


def catch(id: str, trigger: Any = DOCUMENTS) -> Event:
    return Event(id=id, position="catch", triggers=(trigger,))


def by(id: str, trigger: Any) -> Event:
    return Event(id=id, position="start", triggers=(trigger,))


FORK, JOIN = Gateway(id="fork", kind="parallel"), Gateway(id="join", kind="parallel")
BOTH = [("begin", "fork"), ("fork", "a"), ("fork", "b"), ("a", "join"), ("b", "join"), ("join", "end")]
NOTED = Event(id="noted", position="boundary", triggers=(DOCUMENTS,), attached_to="work", is_interrupting=False)
STOPPED = Event(id="stopped", position="boundary", triggers=(WITHDRAWN,), attached_to="work")

DEFINITIONS = {
    "one": deployed("one", BEGIN, catch("wait"), END),
    "two": deployed("two", BEGIN, FORK, catch("a"), catch("b"), JOIN, END, flows=BOTH),
    "race": deployed(
        "race", BEGIN, Gateway(id="gate", kind="event"), catch("a"), catch("b", WITHDRAWN), END,
        Event(id="gone", position="end"),
        flows=[("begin", "gate"), ("gate", "a"), ("gate", "b"), ("a", "end"), ("b", "gone")],
    ),
    "withdrawable": deployed(
        "withdrawable", BEGIN, Task(id="work", kind="user"), NOTED, STOPPED, END, Event(id="seen", position="end"),
        Event(id="gone", position="end"),
        flows=[("begin", "work"), ("work", "end"), ("noted", "seen"), ("stopped", "gone")],
    ),
    "again": deployed("again", BEGIN, catch("first"), catch("second"), END),
    "notes": deployed(
        "notes", BEGIN, Task(id="work", kind="user"), NOTED, END, Event(id="seen", position="end"),
        flows=[("begin", "work"), ("work", "end"), ("noted", "seen")],
    ),
    "alarmed": deployed("alarmed", BEGIN, catch("wait", ALARM), END),
    "both alarmed": deployed(
        "both", BEGIN, FORK, catch("a", ALARM), catch("b", ALARM), JOIN, END, flows=BOTH
    ),
    "alarmed again": deployed("alarmed again", BEGIN, catch("first", ALARM), catch("second", ALARM), END),
    "begun": deployed("begun", by("order", MessageTrigger("o")), catch("wait"), END),
}  # fmt: skip
HASHES = {name: digest(name.encode()) for name in DEFINITIONS}


class Desk:
    """One process: a kernel, its store and its messages."""

    def __init__(self, driver: Driver, clock: VirtualSources) -> None:
        self.driver = driver
        self.clock = clock
        self.store = Store(driver, clock)
        plans = {HASHES[name]: Plan(definition, HASHES[name]) for name, definition in DEFINITIONS.items()}
        self.machine = InstanceMachine(plans)
        self.kernel = Kernel(self.store, {InstanceMachine.kind: self.machine}, clock)
        self.failed: list[CorrelationFailed] = []
        self.messages = Messages(
            self.kernel, self.store, self.machine, clock, ask=self._ask, merge=self._merge, start=self._start
        )
        self.messages.listen(self.failed.append)

    async def _ask(self, id: Id, origin: Origin, prepare: Preparation) -> Any:
        return await self.kernel.ask(InstanceMachine.kind, id, origin, prepare)

    def _merge(self, aggregate: Aggregate, watch: int, letter: MessageEnvelope) -> Prepared | Rejection:
        """The last letter's data is the head; data that says `bad` does not fit."""
        if letter.data and "bad" in letter.data:
            return Rejection("invalid", "accept data for", "watch", str(watch), "it says bad")
        data = canonical(letter.data) if letter.data else b""
        command = c.Correlate(watch=watch, message_id=letter.message_id, head=digest(data) if data else b"")
        return Prepared(command, Attachments(payloads=[(digest(data), data)] if data else []))

    async def _start(
        self, found: WaitFound, id: Id, letter: MessageEnvelope, origin: Origin, brought: Attachments
    ) -> None:
        if letter.data and "bad" in letter.data:
            raise RejectedError(Rejection("invalid", "start", "process", "begun", "it says bad"))
        await self.begin("begun", letter.correlation_key, id=id, start="order", brought=brought, origin=origin)

    async def begin(
        self, name: str, case: str = "case-1", *, id: Id | None = None, start: str = "",
        brought: Attachments | None = None, origin: Origin = ORIGIN,
    ) -> Id:  # fmt: skip
        id = id or self.clock.new_id()
        data = canonical({"case": case})
        command = c.StartInstance(
            definition=HASHES[name], process=name, process_version=1, head=digest(data), flags={"orch_case": case},
            start=start,
        )  # fmt: skip
        brought = brought or Attachments()
        brought.payloads.append((digest(data), data))
        await self.kernel.start(InstanceMachine.kind, id, origin, Prepared(command, brought))
        return id

    async def begun_by(self, label: object, name: str, kind: str = "message_start") -> Id:
        """A process that starts by a message or a signal."""
        unit = unit_of(label, after=Rows((ParkedRow(0, 0, name, "", 0, 0, kind),)))
        await self.driver.commit(msgspec.structs.replace(unit, kind="process"))
        return id_of(label)

    async def state(self, id: Id) -> Any:
        return (await self.kernel.read(id, ORIGIN)).state

    async def status(self, id: Id) -> str:
        await self.messages.drain()
        return str((await self.state(id)).status)

    async def dead(self, tenant: str = "tenant") -> dict[str, str]:
        """Dead letters and the first word of why."""
        return {each.message_id: each.answer.partition(":")[0] for each in await self.store.dead_letters(tenant, 100)}

    async def instances(self) -> list[Id]:
        return [each.id for each in await self.store.aggregates("tenant", InstanceMachine.kind)]

    async def publish(
        self, message_id: str = "", ttl: float = 0, case: str = "case-1", name: str = "documents", **data: Any
    ) -> str:
        receipt = await self.messages.publish(
            name, case, ORIGIN, message_id=message_id, ttl_seconds=ttl, data=data or None
        )
        return receipt.outcome

    async def go_on(self) -> None:
        """What a worker does that finds what another left behind."""
        for _, tenant, message_id, *_ in await self.store.pending_messages(0, 100):
            await self.messages.deliver(tenant, message_id)
        await self.messages.sweep()
        await self.settle()

    async def settle(self) -> None:
        await self.messages.drain()
        await self.kernel.drain()


@asynccontextmanager
async def desks(url: str, count: int = 1) -> AsyncIterator[list[Desk]]:
    clock = VirtualSources()
    drivers = [quiet_driver(url) for _ in range(count)]
    for driver in drivers:
        await driver.open()
    opened = [Desk(driver, clock) for driver in drivers]
    try:
        yield opened
    finally:
        for desk in opened:
            await desk.settle()
        for driver in drivers:
            await driver.close()
