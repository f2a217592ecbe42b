"""Who asks and what they may: the guard before every route, and what its function is given."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, get_type_hints

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from perdure.access.principal import Principal, own_key
from perdure.access.roles import check
from perdure.app import Perdure
from perdure.surfaces.http.problems import RefusedRequest
from perdure.surfaces.http.reading import header_of
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


def given(handler: Callable[..., Any]) -> Callable[..., Any]:
    """A route's function as the framework sees it: `perdure` and `principal` are given by us, not looked for."""
    signature = inspect.signature(handler)
    ours = frozenset(GIVEN) & signature.parameters.keys()
    if not ours:
        return handler
    wants_request = "request" in signature.parameters

    @wraps(handler)
    async def served(**arguments: Any) -> Any:
        request: AnyRequest = arguments["request"] if wants_request else arguments.pop("request")
        for name in ours:
            arguments[name] = GIVEN[name](request)
        return await handler(**arguments)

    hints = {**get_type_hints(handler, include_extras=True), "request": AnyRequest}
    kept = {name: each for name, each in signature.parameters.items() if name not in ours}
    asked = inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY)
    parameters = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
        for name, each in {"request": asked, **kept}.items()
    ]
    served.__signature__ = inspect.Signature(parameters, return_annotation=hints["return"])  # type: ignore[attr-defined]
    served.__annotations__ = {**{each.name: each.annotation for each in parameters}, "return": hints["return"]}
    return served


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


GIVEN: dict[str, Callable[[AnyRequest], Any]] = {"perdure": perdure_for, "principal": principal_of}
"""What the function of a route may name besides the parts of a request."""


def trace_of(connection: AnyConnection) -> str:
    """The trace a request belongs to, as the journal keeps it; what is none is as if nothing had been sent."""
    given = header_of(connection.scope, b"traceparent")
    context = parse_traceparent(given) if given else None
    return traceparent(context) if context is not None else ""


def idempotency_key(request: AnyRequest) -> str:
    """The key as operations are handed it: one that two principals chose alike is not the same."""
    return own_key(principal_of(request), header_of(request.scope, b"idempotency-key"))
