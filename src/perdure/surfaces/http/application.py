"""The application: every route, put together with what stands before it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import copy
from functools import partial
from typing import Any

from litestar import Litestar
from litestar.exceptions import LitestarDeprecationWarning
from litestar.routes import HTTPRoute
from litestar.utils.path import join_paths

from perdure.access.roles import OPERATIONS
from perdure.app import Perdure
from perdure.app.configuration.server import ServerConfig
from perdure.errors import InvariantBroken
from perdure.surfaces.http.admission import Admission
from perdure.surfaces.http.authentication import Authenticator, Open, authenticating
from perdure.surfaces.http.authorization import acting, is_public, operation_of
from perdure.surfaces.http.credentials import Credentials, TokenReader
from perdure.surfaces.http.idempotency import repeating
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.mcp_mount import agent_routes
from perdure.surfaces.http.middleware import Middleware, names_of
from perdure.surfaces.http.openapi import description_config
from perdure.surfaces.http.problem_details import answer_problem
from perdure.surfaces.http.rate_limits import FAILURES_BURST, FAILURES_PER_SECOND, Buckets
from perdure.surfaces.http.routes import API, ROOT
from perdure.surfaces.http.routes.dashboard import Files
from perdure.surfaces.http.server_sent_events import Streams


def make_app(
    perdure: Perdure,
    settings: ServerConfig,
    secret: bytes,
    *,
    tokens: TokenReader | None = None,
    public_keys: Mapping[str, Any] | None = None,
    routes: tuple[Any, ...] = (),
) -> Middleware:
    """Everything a server needs but the socket. `routes` are more of them, at the root."""
    sources = perdure.runtime.sources
    failures = Buckets(sources, FAILURES_PER_SECOND, FAILURES_BURST)
    who: Authenticator = Credentials(perdure.access, settings, secret, sources, failures, tokens)
    if not settings.authentication:
        who = Open(who)
    book, turnstile = perdure.runtime.store.answers, Admission()
    with warnings.catch_warnings():
        # Handlers are given what they name; Litestar 3 will want that marked, and is kept out until then.
        warnings.simplefilter("ignore", LitestarDeprecationWarning)
        app = Litestar(
            route_handlers=[
                *map(_below_api, API),
                *ROOT,
                *agent_routes(perdure, names_of(settings), settings.max_body_bytes),
                *routes,
            ],
            middleware=[
                partial(authenticating, authenticator=who, on_look=turnstile.looked),
                partial(repeating, book=book, sources=sources, most_bytes=settings.max_body_bytes),
            ],
            exception_handlers={Exception: answer_problem},
            request_class=JsonRequest,
            logging_config=None,
            request_max_body_size=settings.max_body_bytes,
            openapi_config=description_config(),
        )
    _require_operations(app)
    runtime = perdure.runtime
    streams = Streams(metrics=lambda: runtime.metrics)
    app.state.update(
        {
            "perdure": perdure, "acting": acting(perdure),
            "settings": settings, "secret": secret, "authenticator": who, "streams": streams,
            "tokens": tokens, "turnstile": turnstile, "files": Files(),
            "failures": failures, "public_keys": public_keys or {},
        }
    )  # fmt: skip
    edge = Middleware(app, sources, names_of(settings), settings.public_url, [streams.stop], lambda: runtime.metrics)
    app.state.edge = edge
    return edge


def _below_api(handler: Any) -> Any:
    """The handler at its place; a router of Litestar's would copy all of them deeply and check each twice."""
    placed = copy(handler)
    placed.paths = {join_paths(["/api", path]) for path in handler.paths}
    return placed


def _require_operations(app: Litestar) -> None:
    """A route that does not say what it asks for would be open to everybody."""
    for route in app.routes:
        for handler in route.route_handlers if isinstance(route, HTTPRoute) else [route.route_handler]:
            if operation_of(handler) not in OPERATIONS and not is_public(handler):
                raise InvariantBroken("serve", "route", route.path, "it names no known operation")
