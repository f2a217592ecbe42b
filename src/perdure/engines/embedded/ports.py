"""Ports of the embedded engine: the reads and writes it needs beyond those of runbooks."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

from perdure.kernel.ports import Buffered, BufferedFound, Conflict, Unit, WaitFound
from perdure.processes.ports import ProcessReads
from perdure.runbooks.ports import DeadLetter, Message, RunbookStore
from perdure.sources import Id, Micros


class ProcessStore(Protocol):
    """Every look-up names its tenant and goes by an index, except where all tenants are looked after together."""

    def commit(self, unit: Unit) -> Awaitable[Conflict | None]: ...
    async def payload(self, aggregate: Id, hash: bytes) -> bytes | None: ...

    async def find_waits(
        self, tenant: str, kind: str, name: str, key: str = "", after: int = 0, most: int = 100
    ) -> list[WaitFound]:
        """What waits (message, signal, message_start, signal_start, task) under a name and a key, longest first."""
        ...

    async def newest_wait(self, tenant: str, kind: str, name: str, key: str = "") -> int:
        """The number of the wait that opened last; 0 when there is none."""
        ...

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

    async def message(self, tenant: str, message_id: str) -> Message | None: ...
    async def dead_letters(self, tenant: str, most: int) -> list[DeadLetter]: ...
    async def discard_message(self, tenant: str, message_id: str, answer: str) -> bool: ...
    async def count_indexed(self, tenant: str, verb: str, field: str) -> list[tuple[str, str, int]]:
        """How many aggregates there are per value of a field and status. Costs a look at each of them."""
        ...

    async def ended(self, before: Micros, most: int, kind: str = "runbook") -> list[tuple[Id, str]]:
        """What ended before a time and was not erased."""
        ...


class EngineStore(RunbookStore, ProcessStore, ProcessReads, Protocol):
    """Everything the engine reads and writes."""
