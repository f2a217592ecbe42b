"""The guard before every route: who asks, whether they may, and the platform acting for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.app import Perdure
from perdure.surfaces.http.json_request import header_of
from perdure.surfaces.http.problem_details import RefusedRequest
from perdure.telemetry import parse_traceparent, traceparent

AnyConnection = ASGIConnection[Any, Any, Any, Any]
AnyRequest = Request[Any, Any, Any]
OFTEN = 256
"""Of how many who ask the way in is kept."""
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="perdure"'}


def guard(scope: Any) -> None:
    """Refuse whoever may not do what the route does, before anything of the request is read."""
    handler: BaseRouteHandler = scope["route_handler"]
    if not is_public(handler):
        check(_principal_in(scope), operation_of(handler))


def operation_of(handler: BaseRouteHandler) -> str:
    """What a route asks for; empty when it does not say."""
    return str(handler.opt.get("operation", ""))


def is_public(handler: BaseRouteHandler) -> bool:
    """For anybody: those that say so, and which methods a path knows."""
    methods: frozenset[str] = getattr(handler, "http_methods", frozenset())
    return bool(handler.opt.get("is_public")) or methods == {"OPTIONS"}


def principal_of(connection: AnyConnection) -> Principal:
    """Who asks; refused when nobody is signed in."""
    return _principal_in(connection.scope)


def _principal_in(scope: Any) -> Principal:
    principal: Principal | None = scope["state"].get("principal")
    if principal is None:
        hint = "Send 'Authorization: Bearer <key>', or sign in."
        raise RefusedRequest(401, "access.unauthenticated", "Nobody is signed in.", hint, headers=CHALLENGE)
    return principal


def perdure_for(request: AnyRequest) -> Perdure:
    """The platform on behalf of whoever asks."""
    who = principal_of(request)
    found: Perdure = request.app.state.acting(who.tenant, who.name, who.groups, trace_of(request))
    return found


def acting(perdure: Perdure) -> Callable[[str, str, tuple[str, ...], str], Perdure]:
    """The platform on behalf of anybody; for those who ask often it is kept."""

    @lru_cache(OFTEN)
    def on_behalf(tenant: str, principal: str, groups: tuple[str, ...], trace: str) -> Perdure:
        return perdure.acting(tenant=tenant, principal=principal, groups=groups, trace=trace)

    return on_behalf


def trace_of(connection: AnyConnection) -> str:
    """The trace a request belongs to, as the journal keeps it; what is none is as if nothing had been sent."""
    given = header_of(connection.scope, b"traceparent")
    context = parse_traceparent(given) if given else None
    return traceparent(context) if context is not None else ""
