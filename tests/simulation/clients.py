"""Clients: what they send arrives one to five times, late, out of order, anywhere, and again until it is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from perdure.app.perdure import Perdure
from perdure.errors import FencedError, RejectedError, SchemaViolationError, StoreUnavailableError
from perdure.sources import SECOND
from perdure.testing.fault_injection import Crash
from tests.simulation.process import Process
from tests.simulation.world import World

MAX_COPIES = 5
Act = Callable[[Perdure], Awaitable[Any]]
REFUSED = "refused"


@dataclass
class Thing:
    """Something inbound, and every answer anyone got for it."""

    name: str
    act: Act
    check: Callable[[Any], Awaitable[None]]
    """Called with each answer at the moment it is given."""
    is_repeatable: bool = True
    may_not_fit: bool = False
    """Whether it brings data that a schema may refuse."""
    call: str = ""
    """The id of the call it is about, where there is one."""
    answers: list[Any] = field(default_factory=list)
    tries: int = 0


class Clients:
    """Sends things and keeps what was answered."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.sent: list[Thing] = []
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def is_done(self) -> bool:
        return all(task.done() for task in self._tasks)

    def send(self, thing: Thing) -> None:
        chance = self.world.chance
        copies = chance.randrange(1, MAX_COPIES + 1) if thing.is_repeatable and chance.random() < 0.6 else 1
        self.sent.append(thing)
        for _ in range(copies):
            self._tasks.append(asyncio.get_running_loop().create_task(self._deliver(thing)))

    async def finish(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()

    async def _deliver(self, thing: Thing) -> None:
        world = self.world
        try:
            await self._travel()
            while not await self._try(thing):
                if not thing.is_repeatable:
                    return
                await self._travel()
        except Exception as error:
            world.violated(f"{thing.name} was answered with {type(error).__name__}: {error}")

    async def _travel(self) -> None:
        """Short ways, long ways."""
        world, kind = self.world, self.world.chance.random()
        if kind < 0.3 and not world.is_calm:
            await world.clock.sleep_until(world.clock.now() + world.chance.randrange(1, 400) * SECOND)
        for _ in range(world.chance.randrange(0, 15)):
            await asyncio.sleep(0)

    async def _try(self, thing: Thing) -> bool:
        """Whether it was answered."""
        alive = self.world.alive()
        if not alive:
            await self.world.clock.sleep_until(self.world.clock.now() + SECOND)
            return False
        process = self.world.chance.choice(alive)
        thing.tries += 1
        task = process.spawn(_as_coroutine(thing.act, process.perdure))
        if not await self._ended(task):
            return False
        error = None if task.cancelled() else task.exception()
        if task.cancelled() or isinstance(error, Crash | StoreUnavailableError | FencedError):
            return False
        if isinstance(error, RejectedError) or (isinstance(error, SchemaViolationError) and thing.may_not_fit):
            self.world.tell(f"{thing.name} refused by {process.name}: {error}")
            thing.answers.append(REFUSED)
            return True
        if error is not None:
            raise error
        await self._answered(thing, process, task.result())
        return True

    async def _ended(self, task: asyncio.Task[Any]) -> bool:
        """Wait for the answer, though some do not wait to the end."""
        if self.world.chance.random() < 0.05 and not self.world.is_calm:
            for _ in range(self.world.chance.randrange(1, 15)):
                await asyncio.sleep(0)
            if not task.done():
                task.cancel()
                await asyncio.wait([task])
                return False
        await asyncio.wait([task])
        return True

    async def _answered(self, thing: Thing, process: Process, answer: Any) -> None:
        self.world.tell(f"{thing.name} answered by {process.name}")
        thing.answers.append(answer)
        await thing.check(answer)


async def _as_coroutine(act: Act, perdure: Perdure) -> Any:
    return await act(perdure)
