"""For whoever looks after the server: is it alive, is it ready, how much does it do."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

import msgspec

from perdure.access.principal import EVERY_VERB, Principal
from perdure.access.roles import check
from perdure.app.configuration.server import is_loopback
from perdure.surfaces.http.authorization import CHALLENGE
from perdure.surfaces.http.endpoint import public
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.json_response import JSON, Response, answer, tagged
from perdure.surfaces.http.problem_details import RefusedRequest


class Health(msgspec.Struct, frozen=True):
    """How the server is."""

    status: str


@public("GET", "/health", "server", answer=Health)
async def health(request: JsonRequest) -> Response:
    """The process answers."""
    return answer(Health("alive"))


@public("GET", "/ready", "server", answer=Health)
async def ready(request: JsonRequest) -> Response:
    """The schema is up to date, abandoned work was looked through, and the store answers."""
    state = request.state
    runtime = state.perdure.runtime
    if state.edge.is_draining or not runtime.recovered.is_set():
        hint, headers = "Ask again.", {"Retry-After": "1"}
        raise RefusedRequest(503, "server.not_ready", "The server is starting or stopping.", hint, headers=headers)
    await runtime.driver.fetch("schema_version")
    return answer(Health("ready"))


@public("GET", "/metrics", "server", media={"text/plain": "The text format of Prometheus."})
async def metrics(request: JsonRequest) -> Response:
    """Counters and gauges for Prometheus: to this machine, or to a key that may read them."""
    state = request.state
    principal: Principal | None = request.own.get("principal")
    is_unknown = principal is None or principal.via == "local"
    if (principal is None and not _is_local(request)) or (is_unknown and not _is_addressed(request)):
        hint = "Send a key of the operation metrics.read."
        raise RefusedRequest(401, "access.unauthenticated", "Nobody is signed in.", hint, headers=CHALLENGE)
    if principal is not None:
        check(principal, "metrics.read", verb=EVERY_VERB[0])  # they count the work of all verbs
    scraped = await state.perdure.runtime.scrape()
    return Response(scraped, media="text/plain; version=0.0.4; charset=utf-8")


def _is_local(request: JsonRequest) -> bool:
    """From this machine, and not by somebody between who speaks for others."""
    is_passed_on = any(request.header(name) is not None for name in (b"forwarded", b"x-forwarded-for", b"x-real-ip"))
    return bool(request.client) and is_loopback(request.client) and not is_passed_on


def _is_addressed(request: JsonRequest) -> bool:
    """By address, or as localhost: a page elsewhere could point its own name here, and only a name."""
    try:
        name = urlsplit(f"//{request.header(b'host') or ''}").hostname or ""
        return name == "localhost" or bool(ip_address(name))
    except ValueError:
        return False


@public("GET", "/api/openapi.json")
async def description(request: JsonRequest) -> Response:
    """The description of this API, as OpenAPI has it."""
    return tagged(request, request.state.document.body, JSON, request.state.document.tag)


ENDPOINTS = (health, ready, metrics, description)
