"""The tool about engines that carry processes; addresses of engines are not an agent's."""

from __future__ import annotations

import msgspec

from perdure.app.operations.engines import list_engines as engine_list
from perdure.app.operations.request_fields import Nothing
from perdure.surfaces.mcp.tool import Tool, ToolSession


class AskEngines(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Nothing has to be said."""


class EngineStanding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One engine. `lag_seconds` is the age of the oldest of what is under way to it or from it."""

    name: str
    is_reachable: bool
    version: str = ""
    is_default: bool = False
    """Instances begin on it for which nothing else is said."""
    processes: list[str] = []
    """Processes whose instances begin on it."""
    tenants: list[str] = []
    """Tenants whose instances begin on it."""
    waiting_steps: int = 0
    """Steps that cannot begin because it is away; they begin by themselves, once, when it is back."""
    unreachable_since: str = ""
    open_dispatches: int = 0
    lag_seconds: float = 0.0
    capabilities: list[str] = []


class EngineList(msgspec.Struct, frozen=True):
    """Every engine of the platform."""

    engines: list[EngineStanding]


async def list_engines(desk: ToolSession, asked: AskEngines) -> EngineList:
    """See which engines carry processes: which answer, what begins on which, and how many steps wait for one.

    A step that waits for an engine needs nothing from you: it begins when the engine is back. An instance stays on the
    engine it began on; 'workflow_status' names it.
    """
    found = await desk.perform(engine_list, Nothing())
    return EngineList([
        EngineStanding(
            each.name, each.reachable, each.version, each.is_default, each.processes, each.tenants, each.waiting_steps,
            each.unreachable_since or "", each.open_dispatches, each.lag_seconds, each.capabilities,
        )
        for each in found
    ])  # fmt: skip


TOOLS = (
    Tool(
        title="Engines", operation="engine.list", takes=AskEngines, gives=EngineList, act=list_engines, is_reading=True,
    ),
)  # fmt: skip
