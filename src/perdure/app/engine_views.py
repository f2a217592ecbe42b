"""Engine views: whether the engines of a platform are reached, and what is under way between them and our journal."""

from __future__ import annotations

import asyncio

import msgspec

from perdure.app.runtime import Runtime
from perdure.engine import Capabilities, EngineStatus, NamedEngine
from perdure.sources import SECOND, iso
from perdure.store.gauges import Gauges

MOST = 10_000


class EngineView(msgspec.Struct, frozen=True):
    """An engine as every surface shows it.

    `open_dispatches` counts commands and exported records that are not in our journal yet, up to 10,000 of all engines,
    and `lag_seconds` is the age of the oldest. `waiting_steps` cannot begin because the engine was not reached.
    """

    name: str
    url: str
    reachable: bool
    version: str
    capabilities: list[str]
    lag_seconds: float
    open_dispatches: int
    waiting_steps: int
    unreachable_since: str | None = None
    """Since when the longest of the waiting steps waits."""
    reason: str = ""
    """Why it cannot be reached."""
    ui: str = ""
    """The address of its own web interface; empty where settings name none."""
    is_default: bool = False
    """Whether instances begin on it for which nothing else is said."""
    processes: list[str] = []
    """The processes that settings give to it, whatever the tenant."""
    tenants: list[str] = []
    """The tenants whose instances settings give to it; others than one's own are seen by the owner of the store."""


async def engine_views(runtime: Runtime, tenant: str = "") -> list[EngineView]:
    """The engines that this process was opened with, and those of which the store still has work under way.

    With a `tenant`, other tenants are not named.
    """
    engine = runtime.engine
    named = {each.name: each for each in engine.engines}
    counted = await Gauges(runtime.store.driver).dispatches(MOST)
    for name in counted:
        named.setdefault(name, NamedEngine(name=name, is_known=False))
    statuses = await asyncio.gather(*(_status(runtime, each) for each in named.values()))
    waiting = await runtime.store.engine_waits.count()
    return [
        _view(runtime, each, status, counted.get(each.name, (0, 0)), waiting.get(status.url, (0, 0)), tenant)
        for each, status in zip(named.values(), statuses, strict=True)
    ]


async def _status(runtime: Runtime, engine: NamedEngine) -> EngineStatus:
    if not engine.is_known:
        return EngineStatus(is_reachable=False, reason="this process was opened with no engine of that name")
    return await runtime.engine.status(engine.name)


def _view(
    runtime: Runtime, engine: NamedEngine, status: EngineStatus, under_way: tuple[int, int], waits: tuple[int, int],
    tenant: str,
) -> EngineView:  # fmt: skip
    (count, oldest), (waiting, since), settings = under_way, waits, runtime.engines
    return EngineView(
        name=engine.name, url=status.url, reachable=status.is_reachable, version=status.version,
        capabilities=_named(engine.capabilities) if engine.is_known else [],
        lag_seconds=max(0, runtime.sources.now() - oldest) / SECOND if count else 0.0, open_dispatches=count,
        waiting_steps=waiting, unreachable_since=iso(since) if waiting else None, reason=status.reason, ui=engine.ui,
        is_default=engine.name == settings.default,
        processes=sorted(process for process, name in settings.processes.items() if name == engine.name),
        tenants=sorted(
            each for each, own in settings.tenants.items() if own.engine == engine.name and tenant in ("", each)
        ),
    )  # fmt: skip


def _named(capabilities: Capabilities) -> list[str]:
    return [name for name in capabilities.__struct_fields__ if getattr(capabilities, name)]
