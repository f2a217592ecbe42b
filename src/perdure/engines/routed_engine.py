"""The routed engine: the parts of the embedded engine, and engines outside that carry what the settings give them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.deployed_process import Deployed, Profile
from perdure.bpmn.model import Model
from perdure.engine import (
    Capabilities,
    Deployment,
    EngineSettings,
    EngineStatus,
    HostBuilds,
    JobStream,
    Judged,
    NamedEngine,
)
from perdure.engines.carrier import Carrier
from perdure.engines.command_router import CommandRouter
from perdure.engines.embedded.engine import HERE, EmbeddedEngine, not_named
from perdure.engines.embedded.ports import EngineStore
from perdure.engines.instance_carrier import EMBEDDED
from perdure.engines.instance_moves import InstanceMoves
from perdure.engines.routed_recovery import RoutedRecovery
from perdure.errors import DefinitionError, EngineSettingError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.processes.instance_reader import InstanceReader
from perdure.processes.wait_schemas import Forms
from perdure.runbooks.executor.call_executor import CallExecutor
from perdure.runbooks.executor.recovery import Recovery
from perdure.sources import Sources

OpenCarrier = Callable[[str, EmbeddedEngine], Carrier]
"""Makes the carrier of a name beside the parts that it shares."""


class RoutedEngine(EmbeddedEngine):
    """One per process. Definitions, messages, tasks and calls are the same for every engine."""

    def __init__(
        self, settings: EngineSettings, carrier: OpenCarrier, conductor: CallExecutor, upkeep: Recovery,
        store: EngineStore, reader: InstanceReader, forms: Forms, sources: Sources,
    ) -> None:  # fmt: skip
        super().__init__(conductor, upkeep, store, reader, forms, sources)
        self.name = settings.default
        self._settings = settings
        self.outside: dict[str, Carrier] = {name: carrier(name, self) for name in settings.engines}
        _check_places(self.outside)
        _check_tenants(self.outside, settings)
        self._router = CommandRouter(conductor.kernel, store, self.carriers, self.outside, settings)
        reader.carry(self._router)
        recovery = RoutedRecovery(self.instances, self.workshop, self.changes, self.carriers, self.outside)
        upkeep.join(INSTANCE, recovery)
        upkeep.receive(frozenset[str]().union(*(each.kinds for each in self.outside.values())), recovery.receive)
        self.move = InstanceMoves(self.instances, self.carriers, self.outside).move
        self.drain, self.enter = self._drained, self._enter
        engine: Any = self
        engine.judge, engine.deploy = self._judge, self._deploy

    # --- the engines -----------------------------------------------------------------------------------------------

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        return self._named(self.name).capabilities

    @property
    def engines(self) -> Sequence[NamedEngine]:
        return (HERE, *(each.named for each in self.outside.values()))

    def place(self, process: str, tenant: str) -> NamedEngine:
        """The engine that the settings choose."""
        return self._named(self._settings.choose(process, tenant))

    def _named(self, name: str) -> NamedEngine:
        outside = self.outside.get(name)
        return outside.named if outside is not None else super()._named("" if name == EMBEDDED else name)

    async def _has_others(self) -> bool:
        self._is_shared = True
        return True

    async def link(self, aggregate: Aggregate) -> str:
        """Its page in the interface of its engine, where settings tell the address of one."""
        outside = self.outside.get(await self.carriers.of(aggregate.id))
        return await outside.link(aggregate) if outside is not None and outside.named.ui else ""

    async def host_builds(self, instances: Sequence[Aggregate]) -> HostBuilds:
        """Asked of every engine that hosts some of them with code of ours."""
        hosted: dict[str, list[Aggregate]] = {}
        for each in instances:
            hosted.setdefault(await self.carriers.of(each.id), []).append(each)
        found = [await self.outside[name].host_builds(each) for name, each in hosted.items() if name in self.outside]
        found += [not_named(name, len(each)) for name, each in hosted.items() if name and name not in self.outside]
        builds = tuple(build for each in found for build in each.builds)
        return HostBuilds(builds, tuple(told for each in found for told in each.unknown))

    async def status(self, name: str = "") -> EngineStatus:
        """Asked of the engine, within seconds."""
        outside = self.outside.get(name or self.name)
        return await outside.status() if outside is not None else await super().status()

    # --- opening ---------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Open every engine; one that is away keeps nobody from opening, one that lacks what it needs is refused."""
        opened = await asyncio.gather(*(each.open() for each in self.outside.values()), return_exceptions=True)
        for each in opened:
            if isinstance(each, BaseException):
                raise each

    async def close(self) -> None:
        await self._router.stop()
        await asyncio.gather(*(each.close() for each in self.outside.values()))

    async def _drained(self) -> None:
        await self._router.drain()
        await self.messages.drain()

    def jobs(self, types: Sequence[str]) -> JobStream:
        """The jobs of some types from now on, in place of the handlers of this process."""
        stream = super().jobs(types)
        for each in self.outside.values():
            each.serve()
        return stream

    # --- deploying -------------------------------------------------------------------------------------------------

    async def _judge(
        self, model: Model, origin: Origin, *, process: str = "", profile: Profile = "hollow",
        deployed: Deployed | None = None, along: Collection[str] = (),
    ) -> Judged:  # fmt: skip
        """Also by what the engine can carry on which instances of the process begin."""
        judged = await self.definitions.judge(
            model, origin, process=process, profile=profile, deployed=deployed, along=along
        )
        outside = self._outside_of(judged.deployed, origin)
        if outside is not None and (problems := outside.problems(judged.deployed, origin.tenant, model.file)):
            raise DefinitionError(problems)
        return judged

    async def _enter(self, judged: Judged, origin: Origin) -> Deployment:
        """Deploy to its engine first: what that refuses is not deployed here."""
        outside = self._outside_of(judged.deployed, origin)
        if outside is not None:
            await outside.send(judged.deployed)
        entered = await self.definitions.enter(judged, origin)
        if outside is not None:
            outside.serve(judged.deployed)
        return entered

    async def _deploy(
        self, model: Model, origin: Origin, *, process: str = "", profile: Profile = "hollow",
        deployed: Deployed | None = None,
    ) -> Deployment:  # fmt: skip
        judged = await self._judge(model, origin, process=process, profile=profile, deployed=deployed)
        return await self._enter(judged, origin)

    def _outside_of(self, deployed: Deployed, origin: Origin) -> Carrier | None:
        return self.outside.get(self._settings.choose(deployed.process.id, origin.tenant))


def _check_places(outside: Mapping[str, Carrier]) -> None:
    """Refuse two names for one place: workers of both would take the work of either."""
    held: dict[str, str] = {}
    for name, each in outside.items():
        for place in each.place.split():
            if (other := held.setdefault(place, name)) != name:
                fact = f"it is at {place}, and so is '{other}'"
                raise EngineSettingError("open", "engine", name, fact, "Give one place one name.")


def _check_tenants(outside: Mapping[str, Carrier], settings: EngineSettings) -> None:
    """Refuse to give a tenant to an engine that carries another one alone."""
    for tenant, own in settings.tenants.items():
        for name in dict.fromkeys((own.engine, *own.processes.values())):
            if name in outside and (fact := outside[name].tenant_fault(tenant)):
                hint = "Say which tenant it carries in its url: `?tenant=NAME`."
                raise EngineSettingError("open", "engine", name, fact, hint)
