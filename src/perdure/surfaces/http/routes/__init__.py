"""Every route: those under /api, and those at the root."""

from __future__ import annotations

from typing import Any

from perdure.surfaces.http.routes import calls, probes, verbs

API: tuple[Any, ...] = (*verbs.ROUTES, *calls.ROUTES)
ROOT: tuple[Any, ...] = probes.ROUTES
