"""The application: every endpoint, put together with the checks before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from perdure.access.roles import OPERATIONS, check
from perdure.app import Perdure
from perdure.app.configuration.server import ServerConfig
from perdure.errors import InvariantBroken
from perdure.surfaces.http.asgi import Receive, Scope, Send
from perdure.surfaces.http.authorization import acting, required
from perdure.surfaces.http.concurrency_limit import Admission
from perdure.surfaces.http.credentials import Credentials, Open, TokenReader
from perdure.surfaces.http.endpoint import Endpoint
from perdure.surfaces.http.idempotency import Repeats
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.mcp_mount import agent_routes
from perdure.surfaces.http.middleware import ALWAYS, Middleware, names_of
from perdure.surfaces.http.openapi import ApiDocument
from perdure.surfaces.http.problem_details import RefusedRequest
from perdure.surfaces.http.rate_limits import FAILURES_BURST, FAILURES_PER_SECOND, Buckets, anonymous
from perdure.surfaces.http.router import Router, normalized
from perdure.surfaces.http.routes import ENDPOINTS
from perdure.surfaces.http.routes.dashboard import Files
from perdure.surfaces.http.server_sent_events import Streams
from perdure.work.ports import AnswerBook


def make_app(
    perdure: Perdure,
    settings: ServerConfig,
    secret: bytes,
    *,
    tokens: TokenReader | None = None,
    public_keys: Mapping[str, Any] | None = None,
) -> Middleware:
    """Everything a server needs but the socket."""
    runtime, sources = perdure.runtime, perdure.runtime.sources
    failures = Buckets(sources, FAILURES_PER_SECOND, FAILURES_BURST)
    known = Credentials(perdure.access, settings, secret, sources, failures, tokens)
    who = known if settings.authentication else Open(known, perdure.access.has_keys)
    streams = Streams(metrics=lambda: runtime.metrics)
    state = SimpleNamespace(perdure=perdure, acting=acting(perdure), settings=settings, secret=secret)
    state.authenticator, state.streams, state.turnstile, state.files = who, streams, Admission(), Files()
    state.tokens, state.failures, state.public_keys = tokens, failures, public_keys or {}
    state.strangers = Buckets(sources, settings.rate_per_second, settings.rate_burst)
    state.document = ApiDocument(ENDPOINTS)
    hosts, public = names_of(settings), settings.public_url
    agents = agent_routes(perdure, hosts, settings.max_body_bytes)
    app = Application((*ENDPOINTS, *agents), state, runtime.store.answers)
    state.edge = edge = Middleware(app, sources, hosts, public, [streams.stop], lambda: runtime.metrics)
    return edge


class Application:
    """Finds the endpoint of a request, and lets it answer whoever may ask."""

    def __init__(self, endpoints: Sequence[Endpoint], state: Any, book: AnswerBook) -> None:
        for each in endpoints:
            if each.operation not in OPERATIONS and not each.is_public:  # it would be open to everybody
                raise InvariantBroken("serve", "route", each.paths[0], "it names no known operation")
        self.state = state
        self._router = Router(endpoints)
        self._repeats = Repeats(book, state.perdure.runtime.sources)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = normalized(scope["path"])
        try:
            endpoint, template, words = self._router.find(scope["method"], path)
        except RefusedRequest:
            self.state.strangers.check(anonymous(scope.get("client")))  # who asks there is not looked at
            raise
        scope["path"], scope["path_template"] = path, template
        principal = scope["state"]["principal"] = (
            await self.state.authenticator.identify(scope) if not endpoint.is_anonymous else None
        )
        if principal is None and path not in ALWAYS:
            self.state.strangers.check(anonymous(scope.get("client")))
        if not endpoint.is_public:
            check(required(principal), endpoint.operation)
        if principal is not None and scope["method"] == "GET":
            self.state.turnstile.looked()  # strangers narrow nothing for others
        response = await self._repeats.answer(JsonRequest(scope, receive, self.state, words), endpoint)
        await response(scope, receive, send)
