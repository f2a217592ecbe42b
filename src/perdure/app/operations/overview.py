"""The operation behind the first page of the dashboard: how things stand, at a glance."""

from __future__ import annotations

from perdure.app.operations.operation import Context, Route, operation
from perdure.app.operations.request_fields import Nothing
from perdure.app.operations.verb_scopes import REDACTED
from perdure.app.overview.overview import Glance, Overview


@operation("overview.read", Route("GET", "/overview"), tag="overview", scope=REDACTED)
async def show_overview(context: Context, request: Nothing) -> Overview:
    """What needs me, what is stuck, what runs, and how much went through in a day.

    A key that reaches some verbs only is told what its lists show: counts go up to one page, and throughput is empty.
    """
    return await Glance(context.runtime, context.origin, context.lists).overview()
