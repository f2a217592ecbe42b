"""Ports of a worker: leases, timers, unheld jobs and records of entities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

from perdure.sources import Id, Micros

Beat = Callable[[int, int], int | None]
"""Extends a lease (number, duration) on a connection of its own; answers what time it is by the store's clock, None
when the lease was taken away. Blocking."""


class WorkerRow(NamedTuple):
    """A live lease. `is_lapsed` is the store's word: nobody has extended it in time."""

    number: int
    host: str
    process: str
    lease_until: int
    is_lapsed: bool


class TimerFound(NamedTuple):
    """A timer as read from the store."""

    due: int
    aggregate: Id
    step: int
    kind: str
    tenant: str


class JobFound(NamedTuple):
    """A job nobody holds. `worker` is the dead one it was leased to, 0 when it was merely ready."""

    aggregate: Id
    step: int
    tenant: str
    worker: int
    definition: int


class Answered(NamedTuple):
    """What a request was answered with. `request` is the hash of what was asked, `body` whatever the surface keeps."""

    request: bytes
    status: int
    body: bytes
    at: Micros


class Claim(NamedTuple):
    """Who is about to answer. `owner` is like no other's; a claim made before `stale` that nobody renewed is over."""

    request: bytes
    owner: bytes
    at: Micros
    stale: Micros


class AnswerBook(Protocol):
    """Answers to requests that may come again, by tenant, principal and the key of the request; kept for a day."""

    async def find(self, tenant: str, principal: str, key: str) -> Answered | None:
        """What was answered under a key; a claim is no answer."""
        ...

    async def claim(self, tenant: str, principal: str, key: str, claim: Claim) -> Answered | Literal["running"] | None:
        """The right to answer under a key. None when it is ours now: the first to ask has it, or the next one once
        nobody renewed it for long. Otherwise what was answered, or that somebody is about to."""
        ...

    async def renew(self, tenant: str, principal: str, key: str, owner: bytes, at: Micros) -> bool:
        """Still at it; False when the claim is no longer ours."""
        ...

    async def release(self, tenant: str, principal: str, key: str, owner: bytes) -> None:
        """Nothing is answered under the key: the next one who asks may."""
        ...

    async def settle(self, tenant: str, principal: str, key: str, owner: bytes, answered: Answered) -> bool:
        """Remember the answer of who has the claim; False when another one took it over, and then nothing is kept."""
        ...

    async def forget(self, before: Micros) -> int:
        """Forget some answers given before a time; how many were, 0 when none is left."""
        ...


class Duties(Protocol):
    """What the aggregates of one kind need of a worker, besides running their own commands."""

    async def fire(self, timer: TimerFound) -> None: ...
    async def lease(self, job: JobFound) -> bool:
        """Take a job nobody holds; True when it is ours now."""
        ...

    async def miss(self, id: Id, step: int, tenant: str) -> bool:
        """No live worker has what a job needs: a person must see it. True when that was new."""
        ...

    async def heal(self, id: Id, step: int, tenant: str) -> bool:
        """What a job missed may be here now; True when it goes on."""
        ...

    async def erase(self, id: Id, tenant: str, principal: str, reason: str) -> str: ...


class Leases(Protocol):
    """Leases of worker processes, judged by the store's clock. `set_fence` names the one units are written under."""

    def set_fence(self, number: int) -> None: ...
    def beat(self) -> tuple[Beat, Callable[[], None]]: ...
    async def add_worker(self, host: str, process: str, duration: Micros) -> int: ...
    async def live_workers(self) -> list[WorkerRow]: ...
    async def fence_worker(self, number: int, lease_until: Micros) -> bool:
        """Take a lease away unless it was extended past `lease_until`; True when it was taken."""
        ...

    async def fence_lapsed(self, number: int) -> bool:
        """Take a lease away if it has run out by now; True when it was taken."""
        ...

    async def forget_workers(self, before: Micros) -> None: ...


class Due(Protocol):
    """What waits for a time."""

    async def due_timers(
        self, after_due: Micros, after_aggregate: bytes, until: Micros, most: int
    ) -> list[TimerFound]: ...

    async def timers_within(
        self, after_due: Micros, after_aggregate: bytes, window: Micros, most: int
    ) -> list[TimerFound]:
        """What is due within a window from now, by the store's clock."""
        ...


class EntityFound(NamedTuple):
    """A record as stored; its bytes have been checked against their hash. There are none when they were erased."""

    key: str
    version: int
    is_deleted: bool
    data: bytes


class EntityVersion(NamedTuple):
    """A record as it once was: the call that made it so, when, and on whose behalf; without data when erased."""

    version: int
    is_deleted: bool
    data: bytes
    aggregate: Id
    at: Micros
    principal: str


class Records(Protocol):
    """Records of declared entities. Raises QuarantinedError, naming entity and key, when bytes were changed."""

    async def read_entity(self, tenant: str, entity: str, key: str) -> EntityFound | None: ...
    async def list_entities(self, tenant: str, entity: str, after: str, most: int) -> list[EntityFound]:
        """In the order of their keys, deleted ones left out."""
        ...

    async def entity_history(self, tenant: str, entity: str, key: str, after: int, most: int) -> list[EntityVersion]:
        """Oldest first, beginning behind version `after`."""
        ...
