"""For whoever looks after the server: is it alive, is it ready, how much does it do."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import msgspec
from litestar import Request, Response, get

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.app.configuration.server import is_loopback
from perdure.surfaces.http.authorization import CHALLENGE
from perdure.surfaces.http.openapi import described
from perdure.surfaces.http.problem_details import RefusedRequest
from perdure.surfaces.http.route_decorators import public


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


@public(get, "/metrics", tags=["server"], texts=True)
async def metrics(request: Request[Any, Any, Any]) -> Response[Any]:
    """Counters and gauges for Prometheus: to this machine, or to a key that may read them."""
    state = request.app.state
    principal: Principal | None = request.scope["state"].get("principal")
    is_unknown = principal is None or principal.via == "local"
    if (principal is None and not _is_local(request)) or (is_unknown and not _is_addressed(request)):
        hint = "Send a key of the operation metrics.read."
        raise RefusedRequest(401, "access.unauthenticated", "Nobody is signed in.", hint, headers=CHALLENGE)
    if principal is not None:
        check(principal, "metrics.read")
    return Response(await state.perdure.runtime.scrape(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _is_local(request: Request[Any, Any, Any]) -> bool:
    """From this machine, and not by somebody between who speaks for others."""
    is_passed_on = any(name in request.headers for name in ("forwarded", "x-forwarded-for", "x-real-ip"))
    return request.client is not None and is_loopback(request.client.host) and not is_passed_on


def _is_addressed(request: Request[Any, Any, Any]) -> bool:
    """By address, or as localhost: a page elsewhere could point its own name here, and only a name."""
    try:
        name = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
        return name == "localhost" or bool(ip_address(name))
    except ValueError:
        return False


@public(get, "/api/openapi.json", include_in_schema=False)
async def description(request: Request[Any, Any, Any]) -> dict[str, Any]:
    """The description of this API, as OpenAPI has it."""
    return described(request.app)


ROUTES: tuple[Any, ...] = (health, ready, metrics, description)
