"""Who asks and what they may: the guard of every route, and what handlers are given."""

from __future__ import annotations

from typing import Any

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from perdure.access.principal import Principal, own_key
from perdure.access.roles import check
from perdure.app import Perdure
from perdure.surfaces.http.problems import RefusedRequest
from perdure.telemetry import parse_traceparent, traceparent

AnyConnection = ASGIConnection[Any, Any, Any, Any]
AnyRequest = Request[Any, Any, Any]
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="perdure"'}


async def guard(connection: AnyConnection, handler: BaseRouteHandler) -> None:
    """Refuse whoever may not do what the route does. Asynchronous, or every request would cross a thread for it."""
    if not is_public(handler):
        check(principal_of(connection), operation_of(handler))


def operation_of(handler: BaseRouteHandler) -> str:
    """What a route asks for; empty when it does not say."""
    return str(handler.opt.get("operation", ""))


def is_public(handler: BaseRouteHandler) -> bool:
    """For anybody: those that say so, and which methods a path knows."""
    methods: frozenset[str] = getattr(handler, "http_methods", frozenset())
    return bool(handler.opt.get("is_public")) or methods == {"OPTIONS"}


def principal_of(connection: AnyConnection) -> Principal:
    """Who asks; refused when nobody is signed in."""
    principal: Principal | None = connection.scope["state"].get("principal")
    if principal is None:
        hint = "Send 'Authorization: Bearer <key>', or sign in."
        raise RefusedRequest(401, "access.unauthenticated", "Nobody is signed in.", hint, headers=CHALLENGE)
    return principal


def provide_principal(request: AnyRequest) -> Principal:
    return principal_of(request)


def provide_perdure(request: AnyRequest, principal: Principal) -> Perdure:
    """The platform on behalf of whoever asks. It follows on the principal: what is found at once costs a task group."""
    perdure: Perdure = request.app.state.perdure
    return perdure.acting(
        tenant=principal.tenant, principal=principal.name, groups=principal.groups, trace=trace_of(request)
    )


def trace_of(connection: AnyConnection) -> str:
    """The trace a request belongs to, as the journal keeps it; what is none is as if nothing had been sent."""
    given = connection.headers.get("traceparent", "")
    context = parse_traceparent(given) if given else None
    return traceparent(context) if context is not None else ""


def idempotency_key(request: AnyRequest) -> str:
    """The key as operations are handed it: one that two principals chose alike is not the same."""
    return own_key(principal_of(request), request.headers.get("idempotency-key", ""))
