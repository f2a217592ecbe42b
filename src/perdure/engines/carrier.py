"""The carrier: what an engine outside does for the instances it decides, behind the router that asks it."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Protocol

from perdure.bpmn.machine.commands import ChangeCarrier
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.engine import EngineStatus, HostBuilds, NamedEngine
from perdure.errors import Problem
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Answer, Preparation, Prepared
from perdure.kernel.ports import InboxRow
from perdure.sources import Id
from perdure.work.ports import TimerFound


class CarriedInstances(Protocol):
    """Commands to instances of one carrier."""

    def start(self, kind: str, id: Id, origin: Origin, prepared: Prepared) -> Awaitable[Answer]: ...
    def ask(self, kind: str, id: Id, origin: Origin, prepare: Preparation | Prepared) -> Awaitable[Answer]: ...


class CarriedMoves(Protocol):
    """How an instance comes to a carrier from another engine."""

    async def check(self, current: Aggregate) -> None:
        """Refuse, by name, what it cannot take along."""
        ...

    async def shadow(self, id: Id, bodies: Sequence[bytes]) -> bytes:
        """The hash of the state that a journal leads to, replayed there."""
        ...

    def row(self, current: Aggregate, command: ChangeCarrier, origin: Origin) -> InboxRow:
        """What is committed with the record of the move, and begins the instance there."""
        ...

    async def begin(self, id: Id, tenant: str, run: str) -> None:
        """Begin it at once; recovery tries again while the carrier is away."""
        ...


class Carrier(Protocol):
    """An engine outside under its name. What it does for an instance is bound to it by the instance's journal."""

    @property
    def named(self) -> NamedEngine: ...
    @property
    def commands(self) -> CarriedInstances: ...
    @property
    def moves(self) -> CarriedMoves | None:
        """None where no running instance can come or go."""
        ...

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of inbox rows that are work between it and our journal."""
        ...

    @property
    def rows(self) -> tuple[str, ...]:
        """How the names of these rows begin, up to the first `/`."""
        ...

    @property
    def place(self) -> str:
        """Where it is: two engines of one place would take each other's work."""
        ...

    def tenant_fault(self, tenant: str) -> str:
        """Why it carries nothing of a tenant; empty where it does."""
        ...

    async def open(self) -> None: ...
    async def close(self) -> None: ...
    async def status(self) -> EngineStatus: ...

    async def has_open_start(self, id: Id, tenant: str) -> bool:
        """Whether the start of an instance was kept for this carrier, and perhaps heard there."""
        ...

    async def receive(self, tenant: str, message_id: str, kind: str, aggregate: Id) -> bool:
        """Go on with work that a process left behind; True when it is over."""
        ...

    def leaves_timer(self, timer: TimerFound) -> bool:
        """Whether a timer of an instance that is carried there is fired by our kernel."""
        ...

    def problems(self, deployed: Deployed, tenant: str, file: str = "") -> list[Problem]:
        """Why it cannot carry a process of a tenant."""
        ...

    async def send(self, deployed: Deployed) -> None:
        """Bring it a process ahead of the first start; one that is away gets it with that."""
        ...

    def serve(self, deployed: Deployed | None = None) -> None:
        """Take the jobs that this process can run now: of a process, or of all that are deployed."""
        ...

    async def host_builds(self, instances: Sequence[Aggregate]) -> HostBuilds:
        """The builds of our workers that host its instances; none where its own code does."""
        ...

    async def link(self, aggregate: Aggregate) -> str:
        """The address of an instance in its web interface."""
        ...
