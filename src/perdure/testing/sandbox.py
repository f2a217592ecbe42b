"""A sandbox: the real platform on virtual time, so that nine days pass in a millisecond."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from perdure.app.channels.open_channels import OpenChannels
from perdure.app.configuration.definitions import load_definitions, load_models, load_project_lifecycles
from perdure.app.configuration.project import Config
from perdure.app.documents.verbs import DocumentVerbs, with_document_verbs
from perdure.app.perdure import Perdure
from perdure.app.project_functions import ProjectFunctions
from perdure.app.reference_resolvers import Resolvers, register_resolvers
from perdure.app.runtime import Runtime
from perdure.app.task_results.verbs import WorkflowVerbs, with_workflow_verb
from perdure.app.tasks.task_list import task_list as external_task_list
from perdure.app.workflows.project_workflows import ProjectWorkflows
from perdure.business_calendar import Calendars
from perdure.channels.channel_settings import ChannelSettings, RowSettings
from perdure.durations import later, parse_span
from perdure.engine import Check, EngineSettings
from perdure.errors import InvariantBroken
from perdure.journal import Origin
from perdure.lifecycles.guards import GuardKind
from perdure.lifecycles.guards.project_guards import project_guards
from perdure.lifecycles.loader import default_places
from perdure.sources import Micros
from perdure.store.driver_selection import open_driver
from perdure.store.ports import Driver
from perdure.store.sqlite.driver import SqliteDriver
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import Catalogue
from perdure.work.worker_identity import ProcessIdentity

MAX_ROUNDS = 10_000
SECRET = b"a sandbox signs tokens that no server believes"
_numbers = count(1)


def sandbox_identity() -> ProcessIdentity:
    """A process that certainly does not exist: once left behind, its lease is taken away at once."""
    return ProcessIdentity("sandbox", f"{900_000_000 + next(_numbers)}/0")


class Sandbox(Perdure):
    """`Perdure` with a clock you move. Nothing happens behind your back: no threads, no background tasks."""

    @property
    def clock(self) -> VirtualSources:
        """The clock that `advance` moves."""
        clock = self.runtime.sources
        assert isinstance(clock, VirtualSources)
        return clock

    @classmethod
    def from_config(cls, config: Config, **changes: Any) -> Any:
        """`open` with what a `perdure.yaml` says of work, in memory unless a `url` is given.

        Nobody is written to: what its channels would have sent is told by `sent`. `channels=config.channels` sends it.
        """
        settings: dict[str, Any] = {
            "definitions": config.definitions, "models": config.models, "handlers": config.handlers,
            "environment": config.environment, "documents": config.documents, "guards": config.guards,
            "lifecycles": config.lifecycles if config.lifecycles is not None else default_places(config.definitions),
            "calendars": config.calendars, "resolvers": config.resolvers, "task_list": config.task_list,
            "channels": _kept_here(config.channels), "workflows": config.workflows,
            "functions": config.functions,
        }  # fmt: skip
        return cls.open(changes.pop("url", "sqlite://"), **{**settings, **changes})

    @classmethod
    @asynccontextmanager
    async def open(  # type: ignore[override]
        cls,
        url: str = "sqlite://",
        *,
        definitions: Sequence[str | Path] | str | Path | Catalogue = (),
        models: Sequence[str | Path] | None = None,
        documents: Sequence[str | Path] | None = None,
        lifecycles: Sequence[str | Path] | None = None,
        guards: Sequence[GuardKind | str] = (),
        workflows: Sequence[Any] = (),
        functions: Sequence[Any] = (),
        handlers: Sequence[str] | Mapping[str, Callable[..., Any]] = (),
        environment: str | Path | Mapping[str, Any] | None = None,
        tenant: str = "default",
        principal: str = "local",
        seed: int = 0,
        clock: VirtualSources | None = None,
        driver: Driver | None = None,
        resolvers: Resolvers | None = None,
        calendars: Calendars | None = None,
        blobs: str | Path = "",
        task_list: str = "",
        channels: ChannelSettings | None = None,
    ) -> AsyncIterator[Sandbox]:
        """Open a store (in memory unless a url is given) on virtual time."""
        sandbox = await cls.start(
            url, definitions=definitions, models=models, documents=documents, lifecycles=lifecycles, guards=guards,
            workflows=workflows, functions=functions, handlers=handlers, environment=environment, tenant=tenant,
            principal=principal, clock=clock or VirtualSources(seed), driver=driver, resolvers=resolvers,
            calendars=calendars, blobs=blobs, task_list=task_list, channels=channels,
        )  # fmt: skip
        try:
            yield sandbox
        finally:
            await sandbox.runtime.stop()

    @classmethod
    async def start(
        cls,
        url: str,
        *,
        definitions: Sequence[str | Path] | str | Path | Catalogue = (),
        models: Sequence[str | Path] | None = None,
        documents: Sequence[str | Path] | None = None,
        lifecycles: Sequence[str | Path] | None = None,
        guards: Sequence[GuardKind | str] = (),
        workflows: Sequence[Any] = (),
        functions: Sequence[Any] = (),
        handlers: Sequence[str] | Mapping[str, Callable[..., Any]] = (),
        environment: str | Path | Mapping[str, Any] | None = None,
        tenant: str = "default",
        principal: str = "local",
        clock: VirtualSources,
        driver: Driver | None = None,
        checks: Sequence[Check] | None = None,
        resolvers: Resolvers | None = None,
        calendars: Calendars | None = None,
        blobs: str | Path = "",
        engine: str | EngineSettings = "embedded",
        task_list: str = "",
        channels: ChannelSettings | None = None,
    ) -> Sandbox:
        """Like `open`, for tests that end it in their own way, or check what is deployed themselves."""
        declared = ProjectFunctions.load(functions)
        catalogue = with_document_verbs(declared.extend(load_definitions(definitions, environment, documents)))
        table = project_guards(guards)
        guarded = load_project_lifecycles(definitions, lifecycles, table)
        catalogue = with_workflow_verb(catalogue, bool(guarded))
        brought = ProjectWorkflows.load(workflows)
        catalogue = brought.extend(catalogue)
        registry = declared.bind(brought.handlers(handlers, catalogue))
        runtime = Runtime(
            driver or quiet_driver(url), catalogue, registry, clock, identity=sandbox_identity(), is_driven=True,
            checks=checks, blobs=str(blobs), guards=table, engine=engine,
        )  # fmt: skip
        DocumentVerbs(runtime).bind(registry)
        WorkflowVerbs(runtime).bind(registry)
        register_resolvers(runtime, registry, resolvers or {})
        runtime.use_calendars(calendars or Calendars())
        runtime.task_list = external_task_list(task_list)
        runtime.channels = OpenChannels(runtime, channels, secret=SECRET, public_url="https://sandbox.test")
        await runtime.start()
        try:
            project = load_models(definitions, models)
            await runtime.deploy_project(project, brought, guarded, Origin(tenant, principal))
        except BaseException:
            await runtime.stop()
            raise
        return cls(runtime, Origin(tenant, principal))

    async def advance(self, duration: str) -> None:
        """Let time pass, as `P14D` or `P1M`; everything due on the way happens in its order, at its time."""
        target: Micros = later(self.clock.now(), parse_span(duration))
        await self.run_until_idle()
        for _ in range(MAX_ROUNDS):
            due = await self.runtime.store.due_timers(0, b"", target, 1)
            wakes = self.clock.next_wake()
            if wakes is not None and wakes <= target and not (due and due[0].due <= wakes):
                self.clock.move_to(wakes)
            elif due:
                self.clock.move_to(max(self.clock.now(), due[0].due))
                await self.runtime.upkeep.fire(due[0])
            else:
                break
            await self.run_until_idle()
        else:
            raise InvariantBroken("advance", "sandbox", duration, f"more than {MAX_ROUNDS} timers fired on the way")
        self.clock.move_to(target)
        self.runtime.lease.beat_once()
        await self.runtime.check()
        await self.run_until_idle()

    async def sent(self) -> list[Mapping[str, Any]]:
        """The messages that the project's channels would have sent, oldest first."""
        found = await self.runtime.store.outbox.read(self._origin.tenant)
        return [msgspec.json.decode(each.body) for each in found]

    async def run_until_idle(self) -> None:
        """Until nothing is left to do now; handlers that sleep by this clock go on when it is moved."""
        conductor = self.runtime.conductor
        for _ in range(MAX_ROUNDS):
            await self.clock.until_asleep(conductor.tasks)
            await self.runtime.engine.drain()
            await self.runtime.timers.fire_due(self.clock.now())
            if not await self.runtime.look_after() and all(each in self.clock.asleep for each in conductor.tasks()):
                return
        raise InvariantBroken("idle", "sandbox", "run_until_idle", f"there was still work after {MAX_ROUNDS} rounds")


def _kept_here(channels: ChannelSettings | None) -> ChannelSettings | None:
    """The same channels by their names, whose messages stay in the store."""
    if channels is None:
        return None
    return msgspec.structs.replace(channels, ways=tuple(RowSettings(each.name) for each in channels.ways))


def quiet_driver(url: str) -> Driver:
    """A driver without threads where the store allows it, so that runs are repeatable."""
    if url.startswith("sqlite://"):
        return SqliteDriver(url, url.removeprefix("sqlite://").removeprefix("/"), is_threaded=False)
    return open_driver(url)
