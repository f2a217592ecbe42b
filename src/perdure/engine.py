"""The engine contract: everything that may be asked of whatever carries processes, and nothing else.

| guarantee | of every engine |
|---|---|
| repeated | starting under one id, key or parent, publishing under one message id and firing a timer twice count once |
| pinned | an instance stays on the version it was started with until someone migrates it |
| checked | what comes in is refused at the door when it does not fit; payloads come back byte for byte |
| seen | a job that cannot go on is an incident, never silence |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from perdure.bpmn.machine.definition import Deployed, Profile
from perdure.bpmn.model import Model
from perdure.errors import Problem
from perdure.journal import Origin
from perdure.sources import Id

MessageOutcome = Literal["correlated", "buffered", "started", "no_subscription", "ambiguous", "duplicate"]
"""What became of a message: taken by a wait, kept until its time to live ends, the start of an instance, wanted by
nobody, wanted by several (taken by none), or known already."""

Flags = Mapping[str, str | bool | int]
InstanceName = Id | str
"""An instance by its id, or by the letters people see."""


class Deployment(msgspec.Struct, frozen=True):
    """A process as deployed. `findings` are the warnings it was let through with."""

    process: str
    version: int
    hash: str
    findings: tuple[Problem, ...] = ()
    is_new: bool = True


class ProcessVersion(msgspec.Struct, frozen=True):
    """One version of a process; `is_latest` is what new instances take."""

    process: str
    version: int
    hash: str
    status: Literal["active", "deprecated", "retired"]
    deployed_at: str | None
    by: str
    verb: str = ""
    is_latest: bool = False


class StartRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What begins an instance. At most one of `idempotency_key` and `parent` names it for repeats.

    `start` is the start event that occurred, empty for none events; without a `version` it is the latest.
    """

    process: str
    version: int | None = None
    data: Mapping[str, Any] | None = None
    flags: Flags | None = None
    start: str = ""
    business_key: str = ""
    idempotency_key: str = ""
    parent: str = ""


class Move(msgspec.Struct, frozen=True):
    """A token before and after a migration."""

    token: int
    before: str
    after: str


class NewVerb(msgspec.Struct, frozen=True):
    """A task that waits for a worker, or is under way, and has another verb after a migration."""

    token: int
    element: str
    before: str
    after: str
    is_running: bool = False
    """Under way: it ends as what it began as, and is given to the new verb only if it has to be given again."""


class MigrationPlan(msgspec.Struct, frozen=True):
    """What a migration does, or would do: where tokens go, which waits go on as they are, which verbs change."""

    instance: str
    process: str
    version: int
    hash: str
    moves: tuple[Move, ...] = ()
    kept_timers: tuple[str, ...] = ()
    kept_messages: tuple[str, ...] = ()
    ended_waits: tuple[str, ...] = ()
    new_waits: tuple[str, ...] = ()
    is_dry: bool = True
    new_verbs: tuple[NewVerb, ...] = ()


class Held(Protocol):
    """An instance as an engine holds it; `state` is the machine's."""

    @property
    def id(self) -> Id: ...
    @property
    def tenant(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def state(self) -> Any: ...


class Engine(Protocol):
    """What runs processes. Refusals are `RejectedError`; every call may be repeated."""

    async def deploy(
        self, model: Model, origin: Origin, *, process: str = "", profile: Profile = "hollow",
        deployed: Deployed | None = None,
    ) -> Deployment: ...  # fmt: skip
    async def processes(self, origin: Origin) -> Sequence[ProcessVersion]: ...
    async def versions(self, process: str, origin: Origin) -> Sequence[ProcessVersion]: ...
    async def retire(self, process: str, version: int, origin: Origin, *, reason: str = "") -> None: ...

    async def start(
        self, process: str, origin: Origin, *, version: int | None = None, data: Mapping[str, Any] | None = None,
        flags: Flags | None = None, start: str = "", business_key: str = "", idempotency_key: str = "",
        parent: str = "",
    ) -> Held: ...  # fmt: skip
    async def read(self, instance: InstanceName, origin: Origin) -> Held: ...
    async def history(self, instance: InstanceName, origin: Origin) -> Sequence[tuple[int, int, tuple[Any, ...]]]: ...
    async def cancel(
        self, instance: InstanceName, origin: Origin, *, reason: str = "", compensate: bool = False
    ) -> Held: ...
    async def suspend(self, instance: InstanceName, origin: Origin, *, reason: str = "") -> Held: ...
    async def resume(self, instance: InstanceName, origin: Origin, *, shift_timers: bool = False) -> Held: ...
    async def modify(
        self, instance: InstanceName, origin: Origin, *, cancel: Sequence[int] = (), start: Sequence[str] = (),
        flags: Flags | None = None, reason: str = "",
    ) -> Held: ...  # fmt: skip
    async def migrate(
        self, instance: InstanceName, origin: Origin, *, process: str = "", version: int = 0,
        mapping: Mapping[str, str] | None = None, flags: Mapping[str, str] | None = None, reason: str = "",
        dry_run: bool = False,
    ) -> MigrationPlan: ...  # fmt: skip

    async def publish(
        self, name: str, key: str, origin: Origin, *, message_id: str = "", ttl_seconds: float = 0,
        data: Mapping[str, Any] | None = None, flags: Flags | None = None, writer: str = "",
    ) -> MessageOutcome: ...  # fmt: skip
    async def correlate(
        self, name: str, key: str, origin: Origin, *, message_id: str = "", data: Mapping[str, Any] | None = None,
        flags: Flags | None = None, writer: str = "",
    ) -> MessageOutcome: ...  # fmt: skip
    async def signal(
        self, name: str, origin: Origin, *, message_id: str = "", data: Mapping[str, Any] | None = None,
        flags: Flags | None = None,
    ) -> int: ...  # fmt: skip

    async def complete_task(
        self, instance: InstanceName, node: int, origin: Origin, *, data: Mapping[str, Any] | None = None,
        flags: Flags | None = None, writer: str = "", message_id: str = "", override: str = "",
    ) -> Held: ...  # fmt: skip
    async def claim_task(
        self, instance: InstanceName, node: int, origin: Origin, *, release: bool = False, override: str = ""
    ) -> Held: ...
    async def delegate_task(
        self, instance: InstanceName, node: int, origin: Origin, *, to: str, override: str = ""
    ) -> Held: ...
    async def reassign_task(
        self, instance: InstanceName, node: int, origin: Origin, *, to: str = "", groups: str = "", override: str = ""
    ) -> Held: ...

    async def retry_incident(
        self, instance: InstanceName, node: int, origin: Origin, *, flags: Flags | None = None, reason: str = ""
    ) -> Held: ...
    async def resolve_incident(
        self, instance: InstanceName, node: int, origin: Origin, *, data: Mapping[str, Any] | None = None,
        flags: Flags | None = None, error: str = "", reason: str = "",
    ) -> Held: ...  # fmt: skip
