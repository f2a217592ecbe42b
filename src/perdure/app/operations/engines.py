"""The operation about engines: which carry processes, and how they stand."""

from __future__ import annotations

from perdure.app.engine_views import EngineView, engine_views
from perdure.app.operations.operation import Context, Route, operation
from perdure.app.operations.request_fields import Nothing
from perdure.app.operations.verb_scopes import NO_VERB


@operation("engine.list", Route("GET", "/engines"), tag="engines", scope=NO_VERB)
async def list_engines(context: Context, request: Nothing) -> list[EngineView]:
    """Which engines carry processes: whether each can be reached, what it can, and what is under way to it."""
    return await engine_views(context.runtime, "" if context.is_owner else context.origin.tenant)
