"""One simulation of cases: a storm of documents, records, results and people, then calm, then the reckoning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from perdure.documents.machine.document_machine import DocumentMachine
from perdure.lifecycles.machine.definition_machine import LifecycleDefinitionMachine
from perdure.lifecycles.machine.lifecycle_machine import LifecycleMachine
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.sources import Id, id_text
from perdure.store.audit import verify
from tests.simulation.cases.world import CLIENTS, CaseWorld
from tests.simulation.clients import Clients, Thing
from tests.simulation.simulation import Simulation

REASONS = ("UNREADABLE_FILE", "WRONG_DOCUMENT")


class CaseSimulation(Simulation):
    """Made from a seed, run once."""

    world: CaseWorld

    def __init__(self, seed: int, folder: Path) -> None:
        self.world = CaseWorld(seed, folder)
        self.clients = Clients(self.world)
        self._count = 0

    # --- the storm -----------------------------------------------------------------------------------------------

    def _actions(self) -> dict[Callable[[], Any], int]:
        return {
            self._begin: 8, self._paper: 12, self._decide: 26, self._record: 10, self._result: 12, self._transit: 8,
            self._look: 2, self._duty: 50, self._tick: 20, self._jump: 6, self._freeze: 4, self._thaw: 4, self._kill: 2,
        }  # fmt: skip

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _client(self) -> str:
        return self.world.chance.choice(CLIENTS)

    def _case(self) -> bytes | None:
        known = list(self.world.history.cases)
        return self.world.chance.choice(known[-4:]) if known else None

    def _send(self, name: str, act: Callable[[Any], Any], *, is_repeatable: bool = True) -> None:
        self.clients.send(Thing(f"{name} {self._next()}", act, _nothing, is_repeatable, may_not_fit=True))

    def _begin(self) -> None:
        client = self._client()

        async def check(begun: Any) -> None:
            if begun.instance.id not in map(id_text, self.world.history.cases):
                self.world.violated(f"the case of {client} was answered before its commit")

        async def act(perdure: Any) -> Any:
            return await perdure.lifecycles.start("case", client)

        self.clients.send(Thing(f"start for {client} {self._next()}", act, check))

    def _paper(self) -> None:
        client, key = self._client(), f"d{self._next()}"
        until = self.world.chance.choice(("", "2026-01-01", "2026-01-02", "2026-02-01"))
        self._send(
            f"document {key} of {client}",
            lambda p: p.documents.create("form", client, data={"title": key}, valid_to=until, idempotency_key=key),
        )

    def _decide(self) -> None:
        known, chance = list(self.world.history.documents), self.world.chance
        if not known:
            return
        letters, kind = id_text(Id(chance.choice(known[-5:]))), chance.random()
        if kind < 0.55:
            self._send(f"verify {letters[-6:]}", lambda p: p.documents.verify(letters, 1))
        elif kind < 0.75:
            reason = chance.choice(REASONS)
            self._send(f"reject {letters[-6:]}", lambda p: p.documents.reject(letters, 1, reason))
        elif kind < 0.9:
            other = id_text(Id(chance.choice(known)))
            self._send(f"supersede {letters[-6:]}", lambda p: p.documents.supersede(letters, other))
        else:
            self._send(f"erase {letters[-6:]}", lambda p: p.documents.erase(letters, "asked for"))

    def _record(self) -> None:
        client, risk = self._client(), self.world.chance.choice(("low", "high"))
        verb, key = self.world.chance.choice(("client.create", "client.update")), f"r{self._next()}"
        args = {"id": client, "risk": risk}
        self._send(f"{verb} {client} {risk}", lambda p: p.call(verb, args, idempotency_key=key))

    def _result(self) -> None:
        """For a task that is open, or was."""
        tasks = [task for case in self.world.history.cases.values() for task in case.tasks]
        if not tasks:
            return
        chance = self.world.chance
        task, key = chance.choice(tasks[-6:]), f"t{self._next()}"
        status = "failed" if chance.random() < 0.3 else "completed"
        error = "no answer" if status == "failed" else ""
        self._send(
            f"result {status} {task.correlation_id[-20:]}",
            lambda p: p.lifecycles.complete_task(
                task.correlation_id, status, error=error, idempotency_key=key
            ),
        )  # fmt: skip

    def _transit(self) -> None:
        case = self._case()
        if case is None:
            return
        chance, letters = self.world.chance, id_text(Id(case))
        target, person = chance.choice(("DONE", "DONE", "DROPPED")), chance.choice(("olga", "paul"))
        self._send(
            f"{person} wants {target} of {letters[-6:]}",
            lambda p: p.acting(principal=person).lifecycles.transit(letters, target, reason="chance"),
        )

    def _look(self) -> None:
        case = self._case()
        if case is not None:
            letters = id_text(Id(case))
            self._send(f"look at {letters[-6:]}", lambda p: p.lifecycles.look(letters))

    # --- the calm ------------------------------------------------------------------------------------------------

    async def _calm(self) -> None:
        self.world.is_calm = self.world.handlers.is_calm = True
        self.world.tell("calm")
        self._thaw()
        await self.world.revive()
        for worker in self.world.alive():
            worker.spare()
        for _ in range(3):
            await self._rest()
        await self._reckon()

    async def _reckon(self) -> None:
        world, machine = self.world, LifecycleMachine()
        if not self.clients.is_done:
            world.violated("a client still waits for its answer")
        for id, state in world.history.cases.items():
            loaded = await world.store.load(Id(id))
            if loaded is None or loaded.state != machine.encode(state):
                world.violated(f"case {id_text(Id(id))} is stored as something else than its journal tells")
            if not state.is_over:
                await self._check_rest(id_text(Id(id)))
        self._check_runs()
        machines = {
            RunbookMachine.kind: RunbookMachine(), DocumentMachine.kind: DocumentMachine(), machine.kind: machine,
            LifecycleDefinitionMachine.kind: LifecycleDefinitionMachine(),
        }  # fmt: skip
        report = await verify(world.store, machines, {}, dry=True)
        for finding in report.findings[:3]:
            world.violated(f"the audit found {finding.code}: {finding.sentence} ({finding.aggregate})")
        if messages := await world.store.pending_messages(0, 5):
            world.violated(f"messages are still pending: {messages}")

    async def _check_rest(self, letters: str) -> None:
        """A case at rest has no open way that it should have taken by itself, as the facts stand now."""
        worker = self.world.alive()[0]
        status = await worker.run(worker.perdure.lifecycles.get(letters))
        if status.stuck is not None:
            self.world.violated(f"case {letters} is stuck: {status.stuck}")
        for way in status.transitions:
            if way.mode == "auto" and way.is_open:
                self.world.violated(f"case {letters} rests in {status.state} although {way.target} is open")

    def _check_runs(self) -> None:
        """Nobody was asked for what no task stands for."""
        for run in self.world.handlers.runs:
            if not self.world.history.asked[run.call]:
                self.world.violated(f"{run.call} was asked for and no task stands for it")


async def _nothing(answer: Any) -> None:
    return None
