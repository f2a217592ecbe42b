"""Every route: those under /api, and those at the root."""

from __future__ import annotations

from typing import Any

from perdure.app.operations.table import TABLE
from perdure.surfaces.http.operation_routes import route_handlers
from perdure.surfaces.http.routes import dashboard, probes, sessions, webhooks

API: tuple[Any, ...] = (*route_handlers(TABLE), *sessions.ROUTES)
ROOT: tuple[Any, ...] = (*probes.ROUTES, *webhooks.ROUTES, *dashboard.ROUTES)
