"""Ports of the embedded engine: the reads and writes it needs beyond those of runbooks."""

from __future__ import annotations

from typing import Protocol

from perdure.kernel.ports import Buffered, BufferedFound, Loaded, WaitFound
from perdure.processes.ports import ProcessReads
from perdure.runbooks.ports import RunbookStore
from perdure.sources import Id, Micros
from perdure.work.ports import EntityFound, WorkerRow


class ProcessStore(RunbookStore, Protocol):
    """Every look-up names its tenant and goes by an index, except where all tenants are looked after together."""

    async def tasks(self, tenant: str, after: int = 0, most: int = 100) -> list[WaitFound]:
        """Human tasks, oldest first, after a number."""
        ...

    async def buffered_messages(
        self, tenant: str, name: str, key: str, now: Micros, after: int = 0, most: int = 20
    ) -> list[Buffered]:
        """Messages kept under a name and a key whose time is not over, oldest first."""
        ...

    async def buffered_page(self, after_expiry: Micros, after: int, most: int) -> list[BufferedFound]:
        """Kept messages of all tenants, those that expire first to begin with."""
        ...

    async def expired_messages(self, now: Micros, most: int) -> list[BufferedFound]:
        """Kept messages of all tenants that nobody waited for in time."""
        ...

    async def bury_message(self, tenant: str, message_id: str, answer: str) -> bool:
        """Make a pending message a dead letter; False when someone was faster."""
        ...


class EngineStore(ProcessStore, ProcessReads, Protocol):
    """Everything the engine reads and writes."""

    async def load(self, id: Id) -> Loaded | None:
        """Read one aggregate; None when there is none."""
        ...

    async def read_entity(self, tenant: str, entity: str, key: str) -> EntityFound | None:
        """One record as it is now."""
        ...

    async def live_workers(self) -> list[WorkerRow]:
        """Leases that nobody took away."""
        ...
