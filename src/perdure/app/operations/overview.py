"""The operation behind the first page of the dashboard: how things stand, at a glance."""

from __future__ import annotations

from perdure.app.operations.operation import Context, Route, operation
from perdure.app.operations.request_fields import Nothing
from perdure.app.operations.verb_scopes import NO_VERB
from perdure.app.overview.overview import Glance, Overview


@operation("overview.read", Route("GET", "/overview"), tag="overview", scope=NO_VERB)
async def show_overview(context: Context, request: Nothing) -> Overview:
    """What needs me, what is stuck, what runs, and how much went through in a day."""
    return await Glance(context.runtime, context.origin, context.lists).overview()
