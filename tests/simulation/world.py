"""The world of one seed: processes on one file, one clock, one source of chance, and a trace of all that happened."""

from __future__ import annotations

import asyncio
import random
from hashlib import sha256
from pathlib import Path

from perdure.errors import FencedError
from perdure.kernel.ports import Unit
from perdure.sources import SECOND, Micros, id_text
from perdure.store.sqlite.driver import SqliteDriver, Verdict
from perdure.store.store import Store
from perdure.testing.fault_injection import Side, describe
from perdure.testing.virtual_clock import START, VirtualSources
from tests.simulation.history import History
from tests.simulation.process import Process, task_of_a_process
from tests.simulation.verbs import Handlers, catalogue

SHOWN = 30
FAIL_RATES = {"commit": 0.03, "read": 0.004, "write": 0.01}


class World:
    """Everything that happens is decided by the seed; everything that happened is in the trace."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed = seed
        self.path = str(folder / f"{seed}.db")
        self.url = f"sqlite:///{self.path}"
        self.chance = random.Random(seed)
        self.clock = VirtualSources(seed)
        self.trace: list[str] = []
        self.violations: list[str] = []
        self.is_calm = False
        self.catalogue = catalogue()
        self.history = History(self.violated)
        self.handlers = Handlers(self.chance, self.clock, self.tell)
        self.hosts: list[Process] = []
        self._started = 0

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        loop.set_task_factory(task_of_a_process)
        # Its own connection: what it reads has been committed, whatever the processes believe.
        self.observer = SqliteDriver(self.url, self.path, is_threaded=False)
        await self.observer.open()
        self.store = Store(self.observer, self.clock)
        for host in range(self.chance.randrange(2, 5)):
            self.hosts.append(await self._start(host))

    async def close(self) -> None:
        for process in self.hosts:
            await process.bury()
        await self.observer.close()
        asyncio.get_running_loop().set_task_factory(None)

    # --- what processes ask the world ----------------------------------------------------------------------------

    def turns(self) -> int:
        return self.chance.randrange(1, 9) if self.chance.random() < 0.3 else 0

    def should_fail(self, what: str) -> bool:
        return not self.is_calm and self.chance.random() < FAIL_RATES[what]

    def chosen_crash(self) -> tuple[int, Side]:
        side: Side = "before" if self.chance.random() < 0.5 else "after"
        crash_at = self.chance.randrange(1, 40) if self.chance.random() < 0.6 else 0
        return (0, side) if self.is_calm else (crash_at, side)

    # --- what processes tell the world ---------------------------------------------------------------------------

    def tell(self, text: str) -> None:
        self.trace.append(f"{(self.clock.now() - START) / SECOND:.3f} {text}")

    def violated(self, text: str) -> None:
        self.tell(f"VIOLATION {text}")
        self.violations.append(text)

    def lease_taken(self, by: Process, number: int) -> None:
        self.tell(f"{by.name} takes lease {number} away")
        self.history.fenced.add(number)

    def lease_given(self, to: Process, number: int) -> None:
        self.tell(f"{to.name} has lease {number}")
        self.history.owners[number] = to.name

    def committed(
        self,
        process: Process,
        fence: int,
        units: list[Unit],
        verdicts: list[Verdict],
    ) -> None:
        for unit, verdict in zip(units, verdicts, strict=True):
            call = id_text(unit.id)[-6:] if unit.id else "-"
            if isinstance(verdict, BaseException):
                self.tell(f"{process.name} was refused: {type(verdict).__name__}")
                if not isinstance(verdict, FencedError):
                    self.violated(f"the gate let through what the database refused: {verdict}")
                continue
            if verdict is not None:
                self.tell(f"{process.name} conflict {describe(unit)} {call} {verdict.what} {verdict.key}")
                continue
            names = "+".join(self.history.committed(process.name, fence, unit))
            self.tell(f"{process.name} commit {describe(unit)} {call} v{unit.version} {names}")

    # --- life and death ------------------------------------------------------------------------------------------

    async def _start(self, host: int) -> Process:
        self._started += 1
        process = Process(self, host, self._started)
        is_calm, self.is_calm = self.is_calm, True
        try:
            await process.start()
        finally:
            self.is_calm = is_calm
        return process

    async def bury_the_dead(self) -> None:
        for process in self.hosts:
            if process.is_dead and not process.is_buried:
                self.tell(f"{process.name} dies")
                await process.bury()

    async def revive(self) -> None:
        """Start a process again on every host that has none."""
        await self.bury_the_dead()
        for process in self.hosts:
            if process.is_buried:
                self.hosts[process.host] = await self._start(process.host)

    def alive(self) -> list[Process]:
        return [process for process in self.hosts if not process.is_dead]

    # --- time ----------------------------------------------------------------------------------------------------

    def move(self, by: Micros) -> None:
        self.clock.move_to(self.clock.now() + by)

    async def idle(self) -> None:
        """Until nobody has anything left to do at this moment."""
        ready = getattr(asyncio.get_running_loop(), "_ready")  # noqa: B009
        await asyncio.sleep(0)
        while ready:
            await asyncio.sleep(0)

    def digest(self) -> str:
        return sha256("\n".join(self.trace).encode()).hexdigest()

    def report(self) -> str:
        last = "\n".join(f"  {line}" for line in self.trace[-SHOWN:])
        return f"{self.violations[0]}\nReproduce: make simulate SEEDS={self.seed}\nThe last events:\n{last}"
