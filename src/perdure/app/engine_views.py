"""Engine views: whether the engine of a platform is reached, and what is under way between it and our journal."""

from __future__ import annotations

import msgspec

from perdure.app.runtime import Runtime
from perdure.engine import Capabilities, EngineStatus
from perdure.sources import SECOND, iso
from perdure.store.gauges import Gauges

MOST = 10_000


class EngineView(msgspec.Struct, frozen=True):
    """An engine as every surface shows it.

    `open_dispatches` counts commands and exported records that are not in our journal yet, up to 10,000, and
    `lag_seconds` is the age of the oldest. `waiting_steps` cannot begin because the engine was not reached.
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


async def engine_views(runtime: Runtime) -> list[EngineView]:
    """The engines that this process was opened with."""
    engine, now = runtime.engine, runtime.sources.now()
    status: EngineStatus = await engine.status()
    count, oldest = await Gauges(runtime.store.driver).dispatches(MOST)
    waiting, since = (await runtime.store.engine_waits.count()).get(status.url, (0, 0))
    return [
        EngineView(
            name=engine.name, url=status.url, reachable=status.is_reachable, version=status.version,
            capabilities=_named(engine.capabilities), lag_seconds=max(0, now - oldest) / SECOND if count else 0.0,
            open_dispatches=count, waiting_steps=waiting, unreachable_since=iso(since) if waiting else None,
            reason=status.reason,
        )
    ]  # fmt: skip


def _named(capabilities: Capabilities) -> list[str]:
    return [name for name in capabilities.__struct_fields__ if getattr(capabilities, name)]
