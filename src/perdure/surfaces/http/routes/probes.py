"""For whoever looks after the server: is it alive, is it ready."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, get

from perdure.surfaces.http.describing import described
from perdure.surfaces.http.making import public
from perdure.surfaces.http.problems import RefusedRequest


class Health(msgspec.Struct, frozen=True):
    """How the server is."""

    status: str


@public(get, "/health", tags=["server"])
async def health() -> Health:
    """The process answers."""
    return Health("alive")


@public(get, "/ready", tags=["server"])
async def ready(request: Request[Any, Any, Any]) -> Health:
    """The schema is up to date, abandoned work was looked through, and the store answers."""
    state = request.app.state
    runtime = state.perdure.runtime
    if state.edge.is_draining or not runtime.recovered.is_set():
        hint, headers = "Ask again.", {"Retry-After": "1"}
        raise RefusedRequest(503, "server.not_ready", "The server is starting or stopping.", hint, headers=headers)
    await runtime.driver.clock_offset()
    return Health("ready")


@public(get, "/api/openapi.json", include_in_schema=False)
async def description(request: Request[Any, Any, Any]) -> dict[str, Any]:
    """The description of this API, as OpenAPI has it."""
    return described(request.app)


ROUTES: tuple[Any, ...] = (health, ready, description)
