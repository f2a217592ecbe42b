"""One simulation of runbooks: a storm of everything at once, then calm, then the reckoning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from perdure.errors import DefinitionError, RejectedError, Rejection
from perdure.runbooks.executor.call_executor import keyed_id
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.runbooks.machine.state import ENDED, WAITING, Runbook, links_of
from perdure.sources import Id, id_text
from perdure.store.audit import verify
from tests.simulation.clients import Clients, Thing
from tests.simulation.plans.world import PlanWorld, program
from tests.simulation.simulation import Simulation

TENANT = "default"
MAX_ROUNDS = 60


class PlanSimulation(Simulation):
    """Made from a seed, run once."""

    world: PlanWorld

    def __init__(self, seed: int, folder: Path) -> None:
        self.world = PlanWorld(seed, folder)
        self.clients = Clients(self.world)
        self._count = 0
        self.asked: list[str] = []

    # --- the storm -----------------------------------------------------------------------------------------------

    def _actions(self) -> dict[Callable[[], Any], int]:
        return {
            self._begin: 9, self._complete: 40, self._steer: 18, self._duty: 40, self._tick: 20, self._jump: 5,
            self._freeze: 4, self._thaw: 4, self._kill: 2,
        }  # fmt: skip

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _begin(self) -> None:
        key = f"k{self._next()}"
        text, sealed = program(self.world.chance), self.world.chance.random() < 0.85
        letters = id_text(keyed_id(TENANT, key))

        async def act(perdure: Any) -> Any:
            return await perdure.runbooks.start(text, idempotency_key=key, sealed=sealed, case="c")

        async def check(view: Any) -> None:
            if view.id != letters or Id(keyed_id(TENANT, key)) not in self.world.history.runbooks:
                self.world.violated(f"start {key} was answered with {view.id} before its commit")

        self.asked.append(letters)
        self.clients.send(Thing(f"start {key} as {letters[-6:]}", act, check))

    def _any(self) -> tuple[str, Runbook] | None:
        known = [(id_text(id), state) for id, state in self.world.history.runbooks.items() if state.course is not None]
        open_ones = [each for each in known if each[1].status not in ENDED] or known
        return self.world.chance.choice(open_ones[-5:]) if open_ones else None

    def _complete(self) -> None:
        chosen = self._any()
        if chosen is None:
            return
        letters, state = chosen
        chance = self.world.chance
        parked = [number for number, step in enumerate(state.steps, 1) if step.status == "parked"]
        is_aimed = parked and chance.random() < 0.9
        number = chance.choice(parked) if is_aimed else chance.randrange(1, len(state.steps) + 2)
        message = f"m{self._next()}"
        options: dict[str, Any] = {"result": {"yes": chance.random() < 0.5}, "message_id": message}
        if chance.random() < 0.1:
            options = {"error": "no", "message_id": message}
        key = f"{letters}:{number}"
        self._send(f"complete {key[-12:]} {message}", lambda perdure: perdure.complete(key, **options))

    def _steer(self) -> None:
        chosen = self._any()
        if chosen is None:
            return
        letters, state = chosen
        chance = self.world.chance
        number = chance.randrange(1, len(state.steps) + 1) if state.steps else 1
        failed = [at for at, step in enumerate(state.steps, 1) if step.status == "failed"]
        name = links_of(state.steps[0]).name if state.steps else "s0"
        text = program(chance, f"x{self._next()}y", (name,))
        acts: list[tuple[str, Callable[[Any], Any]]] = [
            ("retry", lambda p: p.runbooks.retry(letters, chance_of(failed, number))),
            ("retry", lambda p: p.runbooks.retry(letters, chance_of(failed, number))),
            ("skip", lambda p: p.runbooks.skip(letters, number, "chance")),
            ("cancel step", lambda p: p.runbooks.cancel(letters, "chance", step=number)),
            ("cancel", lambda p: p.runbooks.cancel(letters, "chance", compensate=True)),
            ("cancel plain", lambda p: p.runbooks.cancel(letters, "chance")),
            ("extend", lambda p: p.runbooks.extend(letters, text)),
            ("extend", lambda p: p.runbooks.extend(letters, text)),
            ("seal", lambda p: p.runbooks.seal(letters)),
            ("compensate", lambda p: p.runbooks.compensate(letters)),
        ]
        name, act = chance.choice(acts)
        self._send(f"{name} {letters[-6:]}:{number}", act)

    def _send(self, name: str, act: Callable[[Any], Any]) -> None:
        async def go(perdure: Any) -> Any:
            try:
                return await act(perdure)
            except DefinitionError as error:
                raise RejectedError(_refusal(error)) from error

        self.clients.send(Thing(name, go, _nothing, may_not_fit=True))

    # --- the calm ------------------------------------------------------------------------------------------------

    async def _calm(self) -> None:
        self.world.is_calm = self.world.handlers.is_calm = True
        self.world.tell("calm")
        self._thaw()
        await self.world.revive()
        for worker in self.world.alive():
            worker.spare()
        for _ in range(MAX_ROUNDS):
            await self._rest()
            if self.world.violations or not await self._close():
                break
        if not self.world.violations:
            await self._reckon()

    async def _close(self) -> bool:
        """End by hand what waits for somebody; False when everything has ended."""
        worker = self.world.alive()[0]
        is_open = False
        for id, state in list(self.world.history.runbooks.items()):
            if state.status in ENDED:
                continue
            is_open = True
            letters = id_text(id)
            if state.course is None:
                await worker.run(worker.perdure.complete(letters, {"yes": True}, message_id=f"end-{letters}"))
                continue
            for number, step in enumerate(state.steps, 1):
                if step.incident is not None:
                    await worker.run(worker.perdure.runbooks.retry(letters, number))
                elif step.status == "failed":
                    await self._quietly(worker, worker.perdure.runbooks.skip(letters, number, "the end"))
                elif step.status == "parked" and any(token.status == WAITING for token in step.tokens):
                    token = len(step.tokens)
                    key = f"{letters}:{number}" + ("/escalation" if step.tokens[-1].escalates else "")
                    message = f"end-{letters}-{number}-{token}"
                    await worker.run(worker.perdure.complete(key, {"yes": True}, message_id=message))
            if not state.course.is_sealed:
                await self._quietly(worker, worker.perdure.runbooks.seal(letters))
        return is_open

    @staticmethod
    async def _quietly(worker: Any, ask: Any) -> None:
        try:
            await worker.run(ask)
        except RejectedError:
            return

    async def _reckon(self) -> None:
        world = self.world
        if not self.clients.is_done:
            world.violated("a client still waits for its answer")
        for id, state in world.history.runbooks.items():
            if state.status not in ENDED:
                states = [step.status for step in state.steps]
                world.violated(f"runbook {id_text(id)} is stuck: {state.status}, {states}")
                continue
            stored = await worker_view(world, id)
            if RunbookMachine().encode(stored) != RunbookMachine().encode(state):
                world.violated(f"runbook {id_text(id)} is stored as something else than its journal tells")
        self._check_runs()
        report = await verify(world.store, {RunbookMachine.kind: RunbookMachine()}, {}, dry=True)
        for finding in report.findings[:3]:
            world.violated(f"the audit found {finding.code}: {finding.sentence} ({finding.aggregate})")
        if messages := await world.store.pending_messages(0, 5):
            world.violated(f"messages are still pending: {messages}")

    def _check_runs(self) -> None:
        """Every run has an intent of its own that was committed before."""
        runs: dict[str, int] = {}
        for run in self.world.handlers.runs:
            runs[run.key] = runs.get(run.key, 0) + 1
        for key, count in runs.items():
            if count > self.world.history.started[key]:
                self.world.violated(f"{key} ran {count} times for {self.world.history.started[key]} intents")


async def worker_view(world: PlanWorld, id: bytes) -> Runbook:
    machine = RunbookMachine()
    loaded = await world.store.load(Id(id))
    assert loaded is not None
    state = machine.decode(loaded.state)
    return state if machine.parts(state) is None else machine.filled(state, await world.store.parts(Id(id)))


def chance_of(failed: list[int], number: int) -> int:
    return failed[0] if failed else number


def _refusal(error: DefinitionError) -> Any:
    return Rejection("invalid", "extend", "runbook", "?", str(error)[:100])


async def _nothing(answer: Any) -> None:
    return None
