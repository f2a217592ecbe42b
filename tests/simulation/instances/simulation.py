"""One simulation of processes: a storm of everything at once, then calm, then the reckoning."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from perdure.app.perdure import Perdure
from perdure.bpmn import model as m
from perdure.bpmn.conditions.tree import flags_of
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.state import ENDED, Instance
from perdure.errors import RejectedError
from perdure.journal import Origin
from perdure.processes.kernel_machines import process_machines
from perdure.processes.plan_cache import Plans
from perdure.runbooks.executor.call_executor import keyed_id
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.sources import Id, id_text
from perdure.store.audit import verify
from tests.simulation.clients import REFUSED, Clients, Thing
from tests.simulation.instances.world import KEY, InstanceWorld
from tests.simulation.simulation import DAY, Simulation

TENANT = "default"
ORIGIN = Origin(TENANT, "client")
MAX_ROUNDS = 120
TTL_SECONDS = 3600.0


class InstanceSimulation(Simulation):
    """Made from a seed, run once."""

    world: InstanceWorld

    def __init__(self, seed: int, folder: Path) -> None:
        self.world = InstanceWorld(seed, folder)
        self.clients = Clients(self.world)
        self._machine = InstanceMachine(self.world.history.plans)
        self._count = 0
        self.starts: dict[bytes, Thing] = {}

    async def run(self) -> InstanceWorld:
        world = self.world
        await world.open()
        try:
            await self._deploy()
            for _ in range(world.chance.randrange(60, 140)):
                await self._step()
                if world.violations:
                    return world
            await self._calm()
        finally:
            await self.clients.finish()
            await world.close()
        return world

    async def _deploy(self) -> None:
        world, worker = self.world, self.world.alive()[0]
        world.is_calm = True
        crash_at, worker.driver._crash_at = worker.driver._crash_at, 0
        for each in world.deployed:
            model = m.Model(definitions=m.Definitions(id="d", processes=(each.process,)))
            await worker.run(worker.runtime.engine.deploy(model, ORIGIN, profile="open", deployed=each))
        worker.driver.commits_seen.clear()
        worker.driver._crash_at = crash_at
        world.is_calm = False

    # --- the storm -----------------------------------------------------------------------------------------------

    def _actions(self) -> dict[Callable[[], Any], int]:
        return {
            self._begin: 8, self._poke: 50, self._interfere: 5, self._duty: 40, self._tick: 20, self._jump: 5,
            self._freeze: 4, self._thaw: 4, self._kill: 2, self._fire_something: 4,
        }  # fmt: skip

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _begin(self) -> None:
        if len(self.starts) >= 5:
            return
        key = f"k{self._next()}"
        flags: dict[str, str | bool | int] = {KEY: key}

        async def act(perdure: Perdure) -> Any:
            return await perdure.runtime.engine.start(
                self.world.deployed[0].process.id, ORIGIN, data={"key": key}, flags=flags, idempotency_key=key
            )  # fmt: skip

        self.starts[keyed_id(TENANT, f"instance\0{key}")] = self._send(f"begin {key}", act)

    def _send(self, name: str, act: Callable[[Perdure], Any], *, is_repeatable: bool = True) -> Thing:
        async def check(answer: Any) -> None:
            return None

        thing = Thing(name, act, check, is_repeatable, may_not_fit=True)
        self.clients.send(thing)
        return thing

    def _poke(self) -> None:
        """Whatever some instance waits for happens, perhaps; the choice is made when a process gets to it."""
        pick, number = self.world.chance.random(), self._next()

        async def act(perdure: Perdure) -> Any:
            found = [each async for each in self._waits()]
            if found:
                await self._answer(perdure, *found[int(pick * len(found))], f"m{number}")

        self._send(f"poke {number}", act)

    def _interfere(self) -> None:
        ids = list(self.world.history.instances)
        if not ids:
            return
        id, kind = Id(self.world.chance.choice(ids)), self.world.chance.random()

        async def act(perdure: Perdure) -> Any:
            engine = perdure.runtime.engine
            if kind < 0.35:
                return await engine.suspend(id, ORIGIN)
            if kind < 0.8:
                return await engine.resume(id, ORIGIN, shift_timers=kind < 0.5)
            return await engine.cancel(id, ORIGIN, compensate=kind < 0.92)

        self._send(f"interfere {self._next()} {kind:.2f}", act, is_repeatable=False)

    async def _waits(self) -> AsyncIterator[tuple[Id, Instance, str, int]]:
        """Everything that somebody outside could answer now, as the store says."""
        for id in list(self.world.history.instances):
            loaded = await self.world.store.load(Id(id))
            if loaded is None:
                continue
            state: Instance = self._machine.decode(loaded.state)
            if state.status in ENDED:
                continue
            for node in state.nodes.values():
                if node.incident is not None:
                    yield Id(id), state, "incident", node.number
                elif node.kind == "task":
                    yield Id(id), state, "task", node.number
            for watch in state.watches.values():
                if watch.kind != "timer" and not watch.has_come:
                    yield Id(id), state, watch.kind, watch.number

    async def _answer(self, perdure: Perdure, id: Id, state: Instance, kind: str, number: int, message: str) -> None:
        engine = perdure.runtime.engine
        match kind:
            case "incident":
                await engine.retry_incident(id, number, ORIGIN)
            case "task":
                await engine.complete_task(
                    id, number, ORIGIN, data={f"t{number}": 1}, message_id=f"t-{number}-{message}"
                )
            case "message":
                watch = state.watches[number]
                ttl = TTL_SECONDS if len(message) % 2 else 0.0
                await engine.publish(
                    watch.name, watch.key, ORIGIN, message_id=message, ttl_seconds=ttl, data={f"m{number}": 1}
                )
            case "signal":
                await engine.signal(state.watches[number].name, ORIGIN, message_id=message)
            case _:
                await engine.modify(id, ORIGIN, flags=self._wanted(state, number), reason="so that it goes on")

    def _wanted(self, state: Instance, number: int) -> dict[str, str | bool | int]:
        event = self.world.history.plans[state.definition].spots[state.watches[number].event].node
        assert isinstance(event, m.Event)
        triggers = [each for each in event.triggers if isinstance(each, m.ConditionalTrigger)]
        return {name: True for trigger in triggers for name in flags_of(trigger.condition)}

    def _fire_something(self) -> None:
        return None

    # --- the calm ------------------------------------------------------------------------------------------------

    async def _calm(self) -> None:
        world = self.world
        world.is_calm = world.handlers.is_calm = True
        world.tell("calm")
        self._thaw()
        await world.revive()
        for worker in world.alive():
            worker.spare()
        await self._rest()
        if not self.clients.is_done:
            world.violated("a client still waits for its answer")
        for number in range(MAX_ROUNDS):
            if world.violations or not await self._close(number):
                break
            await self._rest()
        world.move(2 * DAY)
        await self._rest()
        if not world.violations:
            await self._reckon()

    async def _close(self, number: int) -> bool:
        """Answer one thing of each instance that goes on; False when all have ended."""
        worker = self.world.alive()[0]
        await self._resume_all()
        open: dict[bytes, list[tuple[Id, Instance, str, int]]] = {}
        async for wait in self._waits():
            open.setdefault(wait[0], []).append(wait)
        for waits in open.values():
            id, state, kind, place = self.world.chance.choice(waits)
            name = f"end-{number}-{id_text(id)}-{place}"
            try:
                await worker.run(self._answer(worker.perdure, id, state, kind, place, name))
            except RejectedError as error:
                # What was answered for one instance, a signal say, may have ended what another one waited for.
                if await self._still_waits(id, kind, place):
                    self.world.violated(f"{kind} {place} of instance {id_text(id)} is open and refused: {error}")
        return bool(open) or await self._goes_on()

    async def _still_waits(self, id: Id, kind: str, place: int) -> bool:
        return any([(found, what, at) == (id, kind, place) async for found, _, what, at in self._waits()])

    async def _resume_all(self) -> None:
        worker = self.world.alive()[0]
        for id in list(self.world.history.instances):
            aggregate = await worker.run(worker.runtime.instances.read(Id(id), ORIGIN))
            if aggregate.state.status == "suspended":
                await worker.run(worker.runtime.engine.resume(Id(id), ORIGIN))

    async def _goes_on(self) -> bool:
        for id in self.world.history.instances:
            loaded = await self.world.store.load(Id(id))
            if loaded is not None and self._machine.decode(loaded.state).status not in ENDED:
                return True
        return False

    # --- the reckoning -------------------------------------------------------------------------------------------

    async def _reckon(self) -> None:
        world = self.world
        for id, thing in self.starts.items():
            if any(answer is not REFUSED for answer in thing.answers) and id not in world.history.instances:
                world.violated(f"{thing.name} was acknowledged and is missing")
        for id in world.history.instances:
            await self._check(Id(id))
        for run, count in world.history.started.items():
            ran = sum(each.key == run for each in world.handlers.runs)
            if ran > count:
                world.violated(f"{run} ran {ran} times for {count} intents")
        for run in world.history.completed:
            if not any(each.key == run and each.is_finished for each in world.handlers.runs):
                world.violated(f"{run} was completed and never ran to its end")
        if pending := await world.store.pending_messages(0, 5):
            world.violated(f"notices are still pending: {pending}")
        if incidents := await world.store.incidents(TENANT, 5):
            world.violated(f"incidents are left: {incidents}")
        machines = {RunbookMachine.kind: RunbookMachine(), **process_machines(Plans())}
        report = await verify(world.store, machines, {}, dry=True)
        for finding in report.findings[:3]:
            world.violated(f"the audit found {finding.code}: {finding.sentence} ({finding.aggregate})")

    async def _check(self, id: Id) -> None:
        world = self.world
        loaded = await world.store.load(id)
        assert loaded is not None
        state: Instance | None = self._machine.decode(loaded.state)
        assert state is not None
        if state.status not in ENDED:
            world.violated(f"instance {id_text(id)} goes on for ever: {state.nodes} {state.watches}")
        replayed: Instance | None = None
        for entry in world.history.instances[id]:
            replayed = self._machine.apply(replayed, entry)
        if replayed != state:
            world.violated(f"instance {id_text(id)}: its journal and its state differ")
        for table in ("jobs_of", "parked_of", "incidents_of"):
            if rows := await world.observer.fetch(table, aggregate=id):
                world.violated(f"instance {id_text(id)} has ended and has rows in {table}: {rows}")
