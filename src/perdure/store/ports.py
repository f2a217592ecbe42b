"""Ports of the store: the calls a driver answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, Protocol

from perdure.kernel.ports import Conflict, Told, Unit
from perdure.sources import Id, Micros
from perdure.work.ports import Beat

Row = tuple[Any, ...]


class FeedRow(NamedTuple):
    """A record of the journal, in the order of commits. Without its aggregate it belongs to nobody we know."""

    cursor: int
    tenant: str | None
    kind: str | None
    status: str | None
    aggregate: Id
    sequence: int
    body: bytes


class Driver(Protocol):
    """One database behind named queries. `fence` is the lease every unit is written under."""

    dialect: str
    url: str
    fence: int
    is_threaded: bool
    schema: int
    """The number of the newest schema this release knows, which the store has while it may be written."""
    clock: Callable[[], Micros] | None
    """The clock that leases and timers are judged by; None where the database judges by its own, which is the rule
    where it has one: only a test gives it another."""

    @property
    def commits(self) -> int:
        """How many transactions wrote units."""
        ...

    async def open(self, *, creates: bool = True) -> None:
        """Connect, check durability, bring the schema up to date; make the store where there is none and it may."""
        ...

    async def close(self) -> None: ...
    async def fetch(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run a reading query."""
        ...

    async def write(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run one small writing query in a transaction of its own."""
        ...

    async def write_all(self, statements: list[tuple[str, dict[str, Any]]]) -> list[list[Row]]:
        """Run several writing queries in one transaction."""
        ...

    def commit(self, unit: Unit) -> Awaitable[Conflict | None]:
        """Write the unit with whatever else is ready in this turn of the loop; what is returned says when and if."""
        ...

    def submit(self, unit: Unit, told: Told) -> None:
        """Like `commit`, but calls back: in the loop's thread, once, and never before this has returned."""
        ...

    def beat(self) -> tuple[Beat, Callable[[], None]]:
        """A heartbeat on a connection of its own, and how to close it."""
        ...

    async def read_clock(self) -> Micros | None:
        """What time it is by the database's own clock, asked just now; None where it has none."""
        ...

    async def changed(self, seconds: float) -> bool:
        """Wait until something may have been committed, by this process or another, at most so long."""
        ...

    async def changed_elsewhere(self, seconds: float) -> bool:
        """Wait until another process may have committed something, at most so long."""
        ...

    async def announce(self) -> None:
        """Tell other processes that there is something to see; may be coalesced."""
        ...
