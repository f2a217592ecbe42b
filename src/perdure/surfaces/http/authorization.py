"""Authorization: a principal that somebody must be, and the platform acting on its behalf."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from perdure.access.principal import Principal
from perdure.app import Perdure
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.problem_details import RefusedRequest
from perdure.telemetry import parse_traceparent, traceparent

OFTEN = 256
"""Of how many who ask the way in is kept."""
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="perdure"'}


def required(principal: Principal | None) -> Principal:
    """A principal; refused when nobody is signed in."""
    if principal is None:
        hint = "Send 'Authorization: Bearer <key>', or sign in."
        raise RefusedRequest(401, "access.unauthenticated", "Nobody is signed in.", hint, headers=CHALLENGE)
    return principal


def perdure_for(request: JsonRequest, who: Principal) -> Perdure:
    """The platform on behalf of a principal that asks."""
    found: Perdure = request.state.acting(who.tenant, who.name, who.groups, trace_of(request), who.behind, who.key)
    return found


def acting(perdure: Perdure) -> Callable[[str, str, tuple[str, ...], str, tuple[str, ...], str], Perdure]:
    """The platform on behalf of anybody; for those who ask often it is kept."""

    @lru_cache(OFTEN)
    def on_behalf(
        tenant: str, principal: str, groups: tuple[str, ...], trace: str, behind: tuple[str, ...], key: str
    ) -> Perdure:
        return perdure.acting(tenant=tenant, principal=principal, groups=groups, trace=trace, behind=behind, key=key)

    return on_behalf


def trace_of(request: JsonRequest) -> str:
    """The trace a request belongs to, as the journal keeps it; what is none is as if nothing had been sent."""
    given = request.header(b"traceparent")
    context = parse_traceparent(given) if given else None
    return traceparent(context) if context is not None else ""
