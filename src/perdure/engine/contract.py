"""Engine: the calls that every carrier of processes answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from perdure.agent_usage import Budget
from perdure.bpmn.machine.deployed_process import Deployed, Profile
from perdure.bpmn.model import Model
from perdure.engine.capabilities import Capabilities
from perdure.engine.deployment import Deployment, Judged
from perdure.engine.host_builds import HostBuilds
from perdure.engine.instance import Flags, InstanceName, LifecycleEvent, MigrationPlan, MovePlan, Until
from perdure.engine.jobs import JobStream
from perdure.engine.messages import Broadcast, Receipt, Vet
from perdure.engine.status import EngineStatus, NamedEngine
from perdure.journal import Origin
from perdure.sources import Id
from perdure.verb_contract import ConsequenceTier

if TYPE_CHECKING:
    from perdure.kernel.kernel import Aggregate

Data = Mapping[str, Any]


class Engine(Protocol):
    """What runs processes. Refusals are `RejectedError`; every call may be repeated.

    An instance is answered as our journal holds it after the call. Nodes are numbered up to 64 bits.
    """

    @property
    def name(self) -> str:
        """The engine's name, as settings and refusals say it; of several, that of the one instances begin on."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What the engine of that name can do."""
        ...

    @property
    def engines(self) -> Sequence[NamedEngine]:
        """The engines that instances may be on."""
        ...

    def place(self, process: str, tenant: str) -> NamedEngine:
        """The engine on which an instance of a process begins now."""
        ...

    async def carrier(self, instance: InstanceName) -> NamedEngine:
        """The engine that carries an instance, or carried it to its end."""
        ...

    def carrier_at_hand(self, instance: Id) -> NamedEngine | None:
        """The same where it needs no look into the store, and no link leads elsewhere."""
        ...

    async def link(self, aggregate: Aggregate) -> str:
        """The address of an instance in the web interface of its engine; empty without one."""
        ...

    async def status(self, name: str = "") -> EngineStatus:
        """How an engine stands now; one that cannot be reached says why, within seconds."""
        ...

    async def host_builds(self, instances: Sequence[Aggregate]) -> HostBuilds:
        """The builds of our workers that host these instances on engines outside, and what their histories say."""
        ...

    async def open(self) -> None:
        """Begin to carry; EngineSettingError when the engine lacks what is needed."""
        ...

    async def close(self) -> None:
        """Carry no more from this process; whatever is under way goes on elsewhere, or when it is opened again."""
        ...

    async def deploy(
        self,
        model: Model,
        origin: Origin,
        *,
        process: str = "",
        profile: Profile = "hollow",
        deployed: Deployed | None = None,
    ) -> Deployment:
        """Check, bind and store a process of a file; the same content again is the same version."""
        ...

    async def judge(
        self,
        model: Model,
        origin: Origin,
        *,
        process: str = "",
        profile: Profile = "hollow",
        deployed: Deployed | None = None,
        along: Collection[str] = (),
    ) -> Judged:
        """Check and bind, and store nothing; DefinitionError refuses a process that must not be deployed."""
        ...

    async def enter(self, judged: Judged, origin: Origin) -> Deployment:
        """Deploy what was judged."""
        ...

    async def retire(self, process: str, version: int, origin: Origin, *, reason: str = "") -> None:
        """Let no instance begin under a version any more; running ones go on."""
        ...

    async def deprecate(self, process: str, version: int, origin: Origin, *, reason: str = "") -> None:
        """Let instances begin under a version only when asked for by its number."""
        ...

    def start(
        self,
        process: str,
        origin: Origin,
        *,
        version: int | None = None,
        data: Data | None = None,
        flags: Flags | None = None,
        start: str = "",
        business_key: str = "",
        idempotency_key: str = "",
        parent: str = "",
        until: Until = "committed",
    ) -> Coroutine[Any, Any, Aggregate]:
        """Begin an instance, of the latest version unless one is named, and follow it `until` it has come that far."""
        ...

    async def cancel(
        self, instance: InstanceName, origin: Origin, *, reason: str = "", compensate: bool = False
    ) -> Aggregate: ...
    async def suspend(self, instance: InstanceName, origin: Origin, *, reason: str = "") -> Aggregate: ...
    async def resume(self, instance: InstanceName, origin: Origin, *, shift_timers: bool = False) -> Aggregate: ...
    async def set_budget(
        self, instance: InstanceName, origin: Origin, declared: Budget, wanted: Budget, *, loosens: bool, reason: str
    ) -> Aggregate:
        """Set what all agents of it may use; whatever waits for that goes on. What is `declared` holds until then."""
        ...

    async def modify(
        self,
        instance: InstanceName,
        origin: Origin,
        *,
        cancel: Sequence[int] = (),
        start: Sequence[str] = (),
        flags: Flags | None = None,
        data: Data | None = None,
        reason: str = "",
    ) -> Aggregate: ...
    async def migrate(
        self,
        instance: InstanceName,
        origin: Origin,
        *,
        process: str = "",
        version: int | None = None,
        mapping: Mapping[str, str] | None = None,
        flags: Mapping[str, str] | None = None,
        reason: str = "",
        dry_run: bool = False,
    ) -> MigrationPlan: ...
    async def migrate_back(
        self, instance: InstanceName, origin: Origin, *, reason: str = "", dry_run: bool = False
    ) -> MigrationPlan: ...
    def move(
        self,
        instance: InstanceName,
        origin: Origin,
        to: str,
        *,
        reason: str = "",
        dry_run: bool = False,
        shadow: bool = False,
    ) -> Coroutine[Any, Any, MovePlan]:
        """Let another engine of this process carry a waiting instance; `shadow` replays its journal there first."""
        ...

    async def erase(self, instance: InstanceName, origin: Origin, reason: str) -> str:
        """Remove the data of an ended instance; its history stays and still verifies."""
        ...

    async def publish(
        self,
        name: str,
        key: str,
        origin: Origin,
        *,
        message_id: str = "",
        ttl_seconds: float = 0,
        data: Data | None = None,
        flags: Flags | None = None,
        writer: str = "",
        vet: Vet | None = None,
    ) -> Receipt:
        """Send a message: to the wait of its name and key, to the processes that start by it, or to be kept."""
        ...

    async def correlate(
        self,
        name: str,
        key: str,
        origin: Origin,
        *,
        message_id: str = "",
        data: Data | None = None,
        flags: Flags | None = None,
        writer: str = "",
        vet: Vet | None = None,
    ) -> Receipt:
        """Send a message for a wait that is open now, or for nobody: then it is a dead letter."""
        ...

    async def signal(
        self,
        name: str,
        origin: Origin,
        *,
        message_id: str = "",
        data: Data | None = None,
        flags: Flags | None = None,
        writer: str = "",
        vet: Vet | None = None,
    ) -> Broadcast:
        """Tell every wait of a signal, and begin the processes that start by it."""
        ...

    async def replay(
        self,
        message_id: str,
        origin: Origin,
        *,
        key: str = "",
        instance: Id | None = None,
        vet: Vet | None = None,
    ) -> Receipt:
        """Deliver a dead letter again, perhaps under a corrected key, or to one of several that wait for it."""
        ...

    async def note_on_task(self, instance: InstanceName, origin: Origin, node: int, data: Data) -> Aggregate:
        """Keep in the data where an open task is shown outside."""
        ...

    def complete_task(
        self,
        instance: InstanceName,
        node: int,
        origin: Origin,
        *,
        data: Data | None = None,
        flags: Flags | None = None,
        writer: str = "",
        message_id: str = "",
        override: str = "",
        until: Until = "committed",
        seen: str = "",
    ) -> Coroutine[Any, Any, Aggregate]:
        """End a human task; under one message id it ends once."""
        ...

    async def claim_task(
        self, instance: InstanceName, node: int, origin: Origin, *, release: bool = False, override: str = ""
    ) -> Aggregate: ...
    async def delegate_task(
        self, instance: InstanceName, node: int, origin: Origin, *, to: str, override: str = ""
    ) -> Aggregate: ...
    async def reassign_task(
        self, instance: InstanceName, node: int, origin: Origin, *, to: str = "", groups: str = "", override: str = ""
    ) -> Aggregate: ...

    async def retry_incident(
        self, instance: InstanceName, node: int, origin: Origin, *, flags: Flags | None = None, reason: str = "",
        agreed: ConsequenceTier | Literal[""] = "",
    ) -> Aggregate: ...  # fmt: skip
    async def resolve_incident(
        self,
        instance: InstanceName,
        node: int,
        origin: Origin,
        *,
        data: Data | None = None,
        flags: Flags | None = None,
        error: str = "",
        reason: str = "",
    ) -> Aggregate: ...

    def jobs(self, types: Sequence[str]) -> JobStream:
        """The jobs of some types from now on, for a worker to answer; close the stream to give them back."""
        ...

    def follow(self, origin: Origin, position: int = 0) -> AsyncIterator[LifecycleEvent]:
        """Everything that happens to instances after a position of our journal, in the order of commits."""
        ...

    async def sweep(self) -> int:
        """One bounded round of upkeep of what the engine keeps; how much was done."""
        ...

    async def drain(self) -> None:
        """Wait until nothing that was begun is under way."""
        ...
