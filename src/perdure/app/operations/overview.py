"""The operation behind the first page of the dashboard: how things stand, at a glance."""

from __future__ import annotations

from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.scopes import NO_VERB
from perdure.app.overview.overview import Overview


class ShowOverview(Request, frozen=True):
    """The tenant of the principal."""


@operation("overview.read", Route("GET", "/overview"), tag="overview", scope=NO_VERB)
async def show_overview(context: Context, request: ShowOverview) -> Overview:
    """What needs me, what is stuck, what runs, and how much went through in a day."""
    return await context.perdure.overview()
