"""Every route: those under /api, and those at the root."""

from __future__ import annotations

from typing import Any

from perdure.surfaces.http.routes import (
    audits,
    calls,
    completions,
    dashboard,
    drafts,
    events,
    hooks,
    incidents,
    instances,
    keys,
    letters,
    messages,
    overview,
    packs,
    parked,
    probes,
    processes,
    runbooks,
    sessions,
    steps,
    tasks,
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
    *audits.ROUTES,
    *completions.ROUTES,
    *incidents.ROUTES,
    *instances.ROUTES,
    *keys.ROUTES,
    *letters.ROUTES,
    *messages.ROUTES,
    *packs.ROUTES,
    *parked.ROUTES,
    *processes.ROUTES,
    *tasks.ROUTES,
)
ROOT: tuple[Any, ...] = (
    *probes.ROUTES,
    *hooks.ROUTES,
    *dashboard.ROUTES,
)
