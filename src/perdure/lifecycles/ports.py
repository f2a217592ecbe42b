"""Ports of lifecycles: the store they need, and the calls by which blockers are resolved."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from perdure.journal import Origin
from perdure.kernel.ports import AggregateFound, Chain, Conflict, RecordRow, Unit, WaitFound
from perdure.sources import Id

FROM_THE_NEWEST = b"\xff" * 17


class Message(Protocol):
    """A row of the inbox."""

    @property
    def status(self) -> int: ...
    @property
    def body(self) -> bytes | None: ...


class QueuedResult(NamedTuple):
    """A row of the queue of task results, as whoever inserted it wrote it."""

    id: int
    tenant: str
    tries: int
    fields: dict[str, Any]
    fault: str = ""
    """Why it cannot be a result, where only its beginning was read."""


class ResultQueue(Protocol):
    """The queue of task results: rows are leased for a while, and settled after the commit that counted them."""

    async def lease(self, now: int, until: int, most: int) -> list[QueuedResult]: ...
    async def settle(self, outcomes: list[tuple[int, str]], now: int) -> None: ...
    async def release(self, id: int, outcome: str, until: int) -> None: ...


class RecordVersion(Protocol):
    """One version of a record; of a deleted or erased one there are no data."""

    @property
    def data(self) -> bytes: ...


class LifecycleStore(Protocol):
    """Every look-up names its tenant and goes by an index."""

    async def payload(self, aggregate: Id, hash: bytes) -> bytes | None: ...
    def history(self, chain: Chain, after: int = 0, most: int = 1000) -> AsyncIterator[RecordRow]: ...
    def commit(self, unit: Unit) -> Awaitable[Conflict | None]: ...
    async def message(self, tenant: str, message_id: str) -> Message | None: ...
    async def erase_around(self, tenant: str, id: Id, *, is_recent: bool = True) -> None: ...

    async def await_record_writers(self) -> None:
        """End when every commit that changes records sees what was committed before this was asked."""
        ...

    async def entity_history(
        self, tenant: str, entity: str, key: str, after: int, most: int
    ) -> Sequence[RecordVersion]:
        """Versions of a record behind one, oldest first."""
        ...

    async def fact_news(self, tenant: str, keys: Sequence[str]) -> frozenset[str]:
        """Notices of changes of these facts that nobody has acted on yet."""
        ...

    async def find_waits(
        self, tenant: str, kind: str, name: str, key: str = "", after: int = 0, most: int = 100
    ) -> list[WaitFound]:
        """What waits under a name and a key, longest first."""
        ...

    async def aggregates(
        self, tenant: str, kind: str, status: str = "", before: bytes = FROM_THE_NEWEST, most: int = 100
    ) -> list[AggregateFound]:
        """Aggregates of a kind, newest first, those before an id; in one status or in any."""
        ...

    async def indexed(
        self, tenant: str, verb: str, field: str, value: str, before: bytes = FROM_THE_NEWEST, most: int = 100
    ) -> list[AggregateFound]:
        """Aggregates found by an index row, newest first, those before an id."""
        ...


class Resolution(NamedTuple):
    """A call that a pending task asks for."""

    verb: str
    args: dict[str, Any]
    correlation_id: str
    id: Id
    """The id of the call: the same however often it is begun."""
    settles: tuple[str, str]


class CallEnd(NamedTuple):
    """The end of a call; `awaits_result` when its verb only asks somebody, whose answer comes later."""

    is_completed: bool
    error: str
    result: Any
    awaits_result: bool


class ResolutionCalls(Protocol):
    """Ordinary calls of verbs, on behalf of lifecycles."""

    async def begin(self, resolution: Resolution, origin: Origin) -> Literal["begun", "elsewhere"]:
        """Begin a call, once; `elsewhere` when another worker has the verb. Raises what is wrong with it."""
        ...

    async def cancel(self, id: Id, origin: Origin, reason: str) -> None:
        """Cancel a call; nothing when it has ended or never began."""
        ...

    async def complete_erasure(self, lifecycle: Id, origin: Origin) -> bool:
        """Erase the calls of an erased instance; false while one of them is still ending."""
        ...

    async def end_of(self, id: Id, origin: Origin) -> CallEnd:
        """How a call that has ended did so."""
        ...
