"""Ports of processes: the reads that definitions and instances need of a store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Sequence
from typing import NamedTuple, Protocol

from perdure.journal import Origin
from perdure.kernel.decider import Answer, Preparation, Prepared, Settled
from perdure.kernel.ports import AggregateFound, Chain, RecordRow, WaitFound
from perdure.sources import Id, Micros

FROM_THE_NEWEST = b"\xff" * 17
"""After every id: the place where a list begins with the newest."""


class InstanceCommands(Protocol):
    """The way of a command to an instance: the kernel, or the carrier that decides in its place."""

    def start(self, kind: str, id: Id, origin: Origin, prepared: Prepared) -> Awaitable[Answer]: ...
    def begin(self, kind: str, id: Id, origin: Origin, prepared: Prepared, told: Settled) -> None: ...
    def ask(self, kind: str, id: Id, origin: Origin, prepare: Preparation | Prepared) -> Awaitable[Answer]: ...
    def put(self, kind: str, id: Id, origin: Origin, prepare: Preparation | Prepared, told: Settled) -> None: ...


class FeedRow(Protocol):
    """A record of the journal; without its aggregate it has neither tenant nor kind."""

    @property
    def cursor(self) -> int: ...
    @property
    def tenant(self) -> str | None: ...
    @property
    def kind(self) -> str | None: ...
    @property
    def aggregate(self) -> Id: ...
    @property
    def sequence(self) -> int: ...
    @property
    def body(self) -> bytes: ...


class EngineWait(NamedTuple):
    """A step whose dispatch its engine has not answered: since when, how often it was sent, when it is sent next."""

    engine: str
    since: Micros
    tries: int
    tried_at: Micros
    next_at: Micros
    reason: str


class EngineWaitRows(Protocol):
    """Steps that wait for an engine that cannot be reached."""

    async def read(self, call: Id, step: int) -> EngineWait | None: ...
    async def tried(
        self, tenant: str, call: Id, step: int, *, engine: str, reason: str, now: Micros, next_at: Micros
    ) -> EngineWait:
        """Count an attempt that failed."""
        ...

    async def end(self, call: Id, step: int) -> None:
        """The step waits for its engine no longer."""
        ...


class ProcessReads(Protocol):
    """Every look-up of a list names its tenant and goes by an index."""

    @property
    def engine_waits(self) -> EngineWaitRows: ...

    async def payload(self, aggregate: Id, hash: bytes) -> bytes | None: ...
    async def records(self, aggregate: Id, after: int = 0, most: int = 1000) -> list[RecordRow]: ...
    def history(self, chain: Chain, after: int = 0, most: int = 1000) -> AsyncIterator[RecordRow]: ...

    async def feed(self, after: int, most: int) -> Sequence[FeedRow]:
        """Records of all tenants after a cursor, in the order of commits."""
        ...

    async def find_waits(
        self, tenant: str, kind: str, name: str, key: str = "", after: int = 0, most: int = 100
    ) -> list[WaitFound]:
        """What waits under a name and a key, longest first; start events of processes among it."""
        ...

    async def changed(self, seconds: float) -> bool:
        """Wait until something may have been committed, at most so long."""
        ...

    async def aggregates(
        self, tenant: str, kind: str, status: str = "", before: bytes = FROM_THE_NEWEST, most: int = 100
    ) -> list[AggregateFound]:
        """Instances or processes, newest first, those before an id; in one status or in any."""
        ...

    async def indexed(
        self, tenant: str, verb: str, field: str, value: str, before: bytes = FROM_THE_NEWEST, most: int = 100
    ) -> list[AggregateFound]:
        """Aggregates found by an index row, newest first, those before an id."""
        ...
