"""One simulation: a storm of everything at once, then calm, then the reckoning."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.runbooks.machine.state import ENDED, WAITING, Runbook
from perdure.sources import SECOND, Id, Micros, id_text, parse_id
from perdure.work.ports import TimerFound
from tests.simulation.checks import Checks
from tests.simulation.clients import Clients
from tests.simulation.process import Process
from tests.simulation.program import Program
from tests.simulation.world import World

MINUTE: Micros = 60 * SECOND
DAY: Micros = 24 * 60 * MINUTE
CALM_STRIDES: tuple[Micros, ...] = (SECOND, SECOND, 5 * SECOND, 20 * SECOND, MINUTE, 7 * MINUTE, 61 * MINUTE)
MAX_CLOSINGS = 8


class Simulation:
    """Made from a seed, run once."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.world = World(seed, folder)
        self.clients = Clients(self.world)
        self.program = Program(self.world, self.clients)

    async def run(self) -> World:
        world = self.world
        await world.open()
        try:
            for _ in range(world.chance.randrange(60, 160)):
                await self._step()
                if world.violations:
                    return world
            await self._calm()
        finally:
            await self.clients.finish()
            await world.close()
        return world

    # --- the storm -----------------------------------------------------------------------------------------------

    async def _step(self) -> None:
        chance, actions = self.world.chance, self._actions()
        (action,) = chance.choices(list(actions), list(actions.values()))
        action()
        for _ in range(chance.randrange(0, 10)):
            await asyncio.sleep(0)
        await self.world.bury_the_dead()
        if chance.random() < 0.3:
            await self.world.revive()

    def _actions(self) -> dict[Callable[[], Any], int]:
        program = self.program
        return {
            program.start: 26, program.complete: 22, program.cancel: 4, program.progress: 3, program.retry: 5,
            program.resolve: 2, program.fail_by_hand: 1, program.propose: 2, program.approve: 2, program.replay: 5,
            program.discard: 1, program.erase: 1, self._duty: 40, self._tick: 20, self._jump: 6, self._freeze: 4,
            self._thaw: 4, self._kill: 2, self._fire_something: 4,
        }  # fmt: skip

    def _worker(self) -> Process | None:
        alive = self.world.alive()
        return self.world.chance.choice(alive) if alive else None

    def _duty(self) -> None:
        worker = self._worker()
        if worker is not None:
            kind = self.world.chance.random()
            duty = worker.look_after if kind < 0.7 else worker.fire_timers if kind < 0.97 else worker.check
            worker.spawn(duty(), is_duty=True)

    def _tick(self) -> None:
        self.world.move(self.world.chance.randrange(0, 5 * SECOND))

    def _jump(self) -> None:
        kind = self.world.chance.random()
        if kind < 0.3:
            self.world.move(-self.world.chance.randrange(0, 3 * SECOND))
        elif kind < 0.9:
            self.world.move(self.world.chance.randrange(10 * SECOND, 40 * MINUTE))
        else:
            self.world.move(self.world.chance.randrange(1, 4) * DAY)
        self.world.tell("the clock jumps")

    def _freeze(self) -> None:
        worker = self._worker()
        if worker is not None and not worker.is_frozen:
            self.world.tell(f"{worker.name} freezes")
            worker.freeze()

    def _thaw(self) -> None:
        for worker in self.world.alive():
            if worker.is_frozen:
                self.world.tell(f"{worker.name} thaws")
                worker.thaw()

    def _kill(self) -> None:
        worker = self._worker()
        if worker is not None:
            worker.driver.is_dead = True

    def _fire_something(self) -> None:
        """A timer fires on a worker whose clock is ahead, or that read it long ago."""
        worker = self._worker()
        if worker is None:
            return
        known = [(told, due) for told in self.world.history.calls.values() for due in told.dues if due]
        if known:
            told, due = self.world.chance.choice(known)
            timer = TimerFound(due, Id(told.id), 1, "timeout", "default")
            worker.spawn(worker.runtime._try(lambda: worker.runtime.upkeep.fire(timer)), is_duty=True)

    # --- the calm ------------------------------------------------------------------------------------------------

    async def _calm(self) -> None:
        """Everyone is up, nothing fails any more: all that is under way must come to its end."""
        self.world.is_calm = True
        self.world.tell("calm")
        self._thaw()
        await self.world.revive()
        for worker in self.world.alive():
            worker.spare()
        await self._rest()
        self._check_rest()
        for _ in range(MAX_CLOSINGS):
            if not await self._close_calls():
                break
            await self._rest()
        if not self.world.violations:
            await Checks(self.world, self.clients, self.program).all()

    async def _rest(self) -> None:
        for stride in CALM_STRIDES:
            self.world.move(stride)
            for worker in self.world.alive():
                await worker.run(worker.beat())
            await self.world.idle()
            for _ in range(2):
                for worker in self.world.alive():
                    worker.spawn(worker.look_after(), is_duty=True)
                    worker.spawn(worker.fire_timers(), is_duty=True)
                    await self.world.idle()
            await self.world.revive()

    def _check_rest(self) -> None:
        if not self.clients.is_done:
            self.world.violated("a client still waits for its answer")
        for told in self.world.history.calls.values():
            if told.parent and told.end is not None:
                parent = self.world.history.calls[parse_id(told.parent.partition(":")[0])]
                if parent.end is None:
                    self.world.violated(f"{parent.name} was not told that its escalation {told.name} has ended")

    async def _close_calls(self) -> bool:
        """End by hand what waits for somebody; False when everything has ended."""
        worker = self.world.alive()[0]
        is_open = False
        for told in list(self.world.history.calls.values()):
            loaded = await self.world.store.load(Id(told.id))
            state: Runbook | None = RunbookMachine().decode(loaded.state) if loaded is not None else None
            if state is None or state.status in ENDED:
                continue
            is_open = True
            step, letters = state.steps[0], id_text(told.id)
            if step.incident is not None:
                await worker.run(worker.perdure.resolve(letters, {"ok": True, "message": "the end"}))
            elif any(token.status == WAITING for token in step.tokens):
                message = f"m-end-{letters}-{len(step.tokens)}"
                await worker.run(worker.perdure.complete(letters, {"message": message}, message_id=message))
        return is_open and not self.world.violations
