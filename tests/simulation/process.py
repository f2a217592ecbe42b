"""One simulated process: the real runtime on a driver that is slow, fails, freezes and dies when the seed says so."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from perdure.app.perdure import Perdure
from perdure.app.runtime import Runtime
from perdure.errors import PerdureError, StoreUnavailableError
from perdure.journal import Origin
from perdure.kernel.ports import Conflict, Told, Unit, Verdict
from perdure.sources import SECOND, Micros
from perdure.store.commit_callbacks import awaited
from perdure.store.ports import Row
from perdure.store.sqlite.driver import SqliteDriver
from perdure.testing.fault_injection import Crash, FaultyDriver, submitting
from perdure.verbs import HandlerRegistry
from perdure.work.ports import Beat
from perdure.work.process_lease import LEASE_SECONDS
from perdure.work.worker_identity import ProcessIdentity

if TYPE_CHECKING:
    from tests.simulation.world import World

NO_SUCH_PID = 900_000_000
LEASE: Micros = int(LEASE_SECONDS * SECOND)
GATHERED = frozenset({"Signals._reach", "LifecycleRecovery._woken"})
"""Tasks whose failure is told to those who wait for them."""
RUNNING: contextvars.ContextVar[Process | None] = contextvars.ContextVar("running", default=None)
"""The process on whose behalf the current task runs: what it starts dies with it."""


def task_of_a_process(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
    """A task factory that writes each task down for the process that started it."""
    task: asyncio.Task[Any] = asyncio.Task(coroutine, loop=loop, **options)
    process = RUNNING.get()
    if process is not None:
        process.adopt(task)
    return task


class Process:
    """A worker process from its start to its death; `host` starts another one afterwards."""

    def __init__(self, world: World, host: int, number: int) -> None:
        self.world = world
        self.host = host
        self.name = f"w{host}.{number}"
        self._tasks: list[asyncio.Task[Any]] = []
        self._thawed: asyncio.Future[None] | None = None
        self._heart: tuple[Beat, Callable[[], None]] | None = None
        self.is_buried = False
        self._inner = SimulatedDriver(world.url, world.path, self)
        crash_at, side = world.chosen_crash()
        self.driver = FaultyDriver(self._inner, crash_at, side)
        self.identity = ProcessIdentity(f"host-{host}", f"{NO_SUCH_PID + number}/0")

    async def start(self) -> None:
        catalogue = self.world.catalogue
        registry = HandlerRegistry.collect([], catalogue, self.world.handlers.bound(self.name))
        self.runtime = Runtime(
            self.driver, catalogue, registry, self.world.clock, identity=self.identity, is_driven=True, checks=()
        )
        await self.run(self.runtime.start())
        self.perdure = Perdure(self.runtime, Origin("default", "client"))
        self.world.tell(f"{self.name} starts with lease {self.runtime.lease.number}")
        if self.world.chance.random() < 0.5:
            self.spawn(self.runtime.timers.run(), is_duty=True)

    @property
    def is_dead(self) -> bool:
        return self.driver.is_dead

    @property
    def is_frozen(self) -> bool:
        return self._thawed is not None

    def freeze(self) -> None:
        """Stop it in the middle of whatever it does, as a suspended machine is."""
        self._thawed = asyncio.get_running_loop().create_future()

    def thaw(self) -> None:
        if self._thawed is not None:
            self._thawed.set_result(None)
            self._thawed = None

    def spawn(self, coroutine: Coroutine[Any, Any, Any], *, is_duty: bool = False) -> asyncio.Task[Any]:
        """Begin something on this process's behalf; a duty that fails is a violation."""
        token = RUNNING.set(self)
        try:
            task = asyncio.get_running_loop().create_task(coroutine)
        finally:
            RUNNING.reset(token)
        if not is_duty:
            task.remove_done_callback(self._ended)
        return task

    async def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return await self.spawn(coroutine)

    def adopt(self, task: asyncio.Task[Any]) -> None:
        self._tasks.append(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        """What a process starts for itself must not end in an exception: nobody would see it."""
        error = None if task.cancelled() else task.exception()
        if isinstance(error, PerdureError) and getattr(task.get_coro(), "__qualname__", "") in GATHERED:
            return
        if error is not None and not isinstance(error, Crash) and not self.is_dead:
            self.world.violated(f"a task of {self.name} died of {type(error).__name__}: {error}")

    def spare(self) -> None:
        """From now on it dies no more by itself."""
        self.driver._crash_at = 0

    async def beat(self) -> None:
        """Extend the lease, or notice that it was taken away, as the heartbeat's thread does."""
        lease = self.runtime.lease
        number = lease.number
        if not self.is_frozen and not self.is_dead and not self._extended(number):
            lease._lose(number)

    def _extended(self, number: int) -> bool:
        """Over one connection that is kept, as that thread keeps it."""
        if self._heart is None:
            self._heart = self._inner.beat()
        extend, _ = self._heart
        return extend(number, LEASE) is not None

    async def look_after(self) -> None:
        await self.beat()
        await self.runtime._try(self.runtime.look_after)

    async def fire_timers(self) -> None:
        await self.runtime._try(lambda: self.runtime.timers.fire_due(self.world.clock.now()))

    async def check(self) -> None:
        await self.runtime._try(self.runtime.check)

    async def bury(self) -> None:
        """Everything it was doing ends here; its lease stays behind."""
        self.driver.is_dead = self.is_buried = True
        self.thaw()
        tasks = [task for task in self._tasks if not task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()  # every loop that ends looks through all tasks that anybody still holds
        if self._heart is not None:
            _, close = self._heart
            close()
        await self._inner.close()


class SimulatedDriver(SqliteDriver):
    """The real driver on a real file, in one thread, with its world in between."""

    def __init__(self, url: str, path: str, process: Process) -> None:
        super().__init__(url, path, is_threaded=False)
        self._process = process
        self._world = process.world

    def submit(self, unit: Unit, told: Told) -> None:
        submitting(self._slowly)(unit, told)

    async def _slowly(self, unit: Unit) -> Conflict | None:
        await self._pass("commit")
        verdict = await awaited(super().submit, unit)
        await self._turns()
        return verdict

    async def fetch(self, name: str, /, **parameters: Any) -> list[Row]:
        await self._pass("read")
        return await super().fetch(name, **parameters)

    async def write_all(self, statements: list[tuple[str, dict[str, Any]]]) -> list[list[Row]]:
        await self._pass("write")
        found = await super().write_all(statements)
        for (name, parameters), rows in zip(statements, found, strict=True):
            if name == "add_worker":
                self._world.lease_given(self._process, rows[0][0])
            elif name in ("fence_worker", "fence_lapsed") and rows:
                self._world.lease_taken(self._process, parameters["number"])
        return found

    def _commit(self, units: list[Unit]) -> list[Verdict]:
        """The moment of the commit itself: nothing else can happen at the same time."""
        if self._process.is_dead:
            return [StoreUnavailableError("commit", "store", self.url, "the process is dead")] * len(units)
        fence = self.fence
        verdicts = super()._commit(units)
        self._world.committed(self._process, fence, units, verdicts)
        return verdicts

    async def _pass(self, what: str) -> None:
        await self._turns()
        if self._world.should_fail(what):
            self._world.tell(f"{self._process.name} cannot reach the store to {what}")
            raise StoreUnavailableError(what, "store", self.url, "the simulation said so")

    async def _turns(self) -> None:
        """A few turns of the loop in which others go on, and as long as it takes when frozen."""
        for _ in range(self._world.turns()):
            await asyncio.sleep(0)
        while self._process._thawed is not None:
            await asyncio.shield(self._process._thawed)
        if self._process.is_dead:
            raise Crash
