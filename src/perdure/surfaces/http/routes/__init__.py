"""Every route: those under /api, and those at the root."""

from __future__ import annotations

from typing import Any

from perdure.surfaces.http.routes import (
    calls,
    dashboard,
    drafts,
    events,
    overview,
    probes,
    runbooks,
    sessions,
    steps,
    verbs,
)

API: tuple[Any, ...] = (
    *verbs.ROUTES,
    *calls.ROUTES,
    *runbooks.ROUTES,
    *steps.ROUTES,
    *drafts.ROUTES,
    *overview.ROUTES,
    *events.ROUTES,
    *sessions.ROUTES,
)
ROOT: tuple[Any, ...] = (
    *probes.ROUTES,
    *dashboard.ROUTES,
)
