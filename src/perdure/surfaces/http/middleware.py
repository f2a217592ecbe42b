"""The middleware: checks before every route, and headers of every response."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import lru_cache
from itertools import count
from types import coroutine
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from perdure.app.configuration.server import ServerConfig
from perdure.sources import SECOND, Micros, Sources, id_text
from perdure.surfaces.http.asgi import ASGIApp, Message, Receive, Scope, Send
from perdure.surfaces.http.json_response import Response
from perdure.surfaces.http.problem_details import MEDIA, RefusedRequest, refusal_of

if TYPE_CHECKING:
    from perdure.telemetry.metrics import Metrics

log = logging.getLogger("perdure.http")
BODY_SECONDS = 30.0
"""How long a client may take to send its body."""
UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})
ALWAYS = frozenset({"/health", "/ready", "/metrics"})
"""Answered while draining, too, and under any name: probes ask by address."""
NO_ROUTE = "other"
_HOST = re.compile(r"[0-9A-Za-z!$&'()*+,;=\-._~:\[\]@%]*")
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

_CSP = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; object-src 'none'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'self'"
)
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"content-security-policy", _CSP.encode()),
]
_NO_STORE = (b"cache-control", b"no-store")


class Middleware:
    """Wraps the application: names the request, refuses what must not come near it, adds the headers."""

    def __init__(
        self, app: ASGIApp, sources: Sources, hosts: frozenset[str] | None, public_url: str = "",
        on_drain: Sequence[Callable[[], None]] = (), metrics: Callable[[], Metrics | None] = lambda: None,
    ) -> None:  # fmt: skip
        """`hosts` are the names this server answers to; None answers to any, for those who must sign in.

        `metrics` gives what answers are counted with, once somebody measures.
        """
        self._app = app
        self._sources = sources
        self._hosts = hosts
        self._public = _place(public_url)
        self._on_drain = on_drain
        self._metrics = metrics
        self._name = id_text(sources.new_id())
        self._numbers = count(1)
        self.is_draining = False

    def drain(self) -> None:
        """Take nothing new from now on."""
        self.is_draining = True
        for each in self._on_drain:
            each()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            return await send({"type": "websocket.close"})  # nothing here speaks in sockets
        begun, request_id = self._sources.monotonic(), f"{self._name}-{next(self._numbers)}"
        scope.setdefault("state", {})["request_id"] = request_id
        path = scope["path"]
        extra = [*_HEADERS, (b"x-request-id", request_id.encode())]
        if path.lstrip("/").startswith("api"):  # as routes are found, however many slashes it begins with
            extra.append(_NO_STORE)
        is_begun = False

        async def answer(message: Message) -> None:
            nonlocal is_begun
            if message["type"] == "http.response.start":
                is_begun = True
                message["headers"] = _joined(message.get("headers", []), extra)
                self._count(scope, message["status"], begun)
            await send(message)

        try:
            self._look_at(scope, path in ALWAYS)
            await self._app(scope, _patient(receive, scope["state"]), answer)
        except Exception as error:
            if is_begun:
                raise
            await _refused(error, scope)(scope, receive, answer)

    def _count(self, scope: Any, status: int, begun: Micros) -> None:
        """By the pattern of the route: paths hold names, and there is no end of them."""
        if (metrics := self._metrics()) is not None:
            seconds = (self._sources.monotonic() - begun) / SECOND
            metrics.http_answered(scope["method"], scope.get("path_template") or NO_ROUTE, status, seconds)

    def _look_at(self, scope: Any, is_probe: bool) -> None:
        if self.is_draining and not is_probe:
            detail = "The server is stopping and takes nothing new."
            raise RefusedRequest(503, "server.draining", detail, "Ask again.", headers={"Retry-After": "1"})
        host = origin = ""
        for name, value in scope["headers"]:
            if name == b"host":
                host = value.decode("latin-1")
            elif name == b"origin":
                origin = value.decode("latin-1")
        is_named = is_probe or self._hosts is None or _name(f"//{host}") in self._hosts
        if not is_named or not _is_host(host):
            hint = "Use the address it was started with, or name this one as server.public_url."
            raise RefusedRequest(400, "request.host", f"This server does not answer to the name '{host[:100]}'.", hint)
        if not origin or scope["method"] not in UNSAFE or is_probe:
            return
        if _place(origin) not in {_place(f"//{host}"), self._public} - {""}:
            raise RefusedRequest(403, "request.origin", "A page of another site may not act here.")


def names_of(settings: ServerConfig) -> frozenset[str] | None:
    """Without authentication only known names are answered to: a page elsewhere could point its own name here."""
    return None if settings.authentication else LOOPBACK_NAMES | {_name(settings.public_url or "//localhost")}


def _place(url: str) -> str:
    """Host and port of an address; empty when it is none, and never that of an answer to nobody (`null`)."""
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""


@lru_cache(256)
def _is_host(host: str) -> bool:
    """Whether it can be read as host and port, as whoever builds addresses of it must."""
    try:
        parts = urlsplit(f"//{host}")
        return bool(_HOST.fullmatch(host)) and parts.port != 0 and parts.netloc == host and parts.username is None
    except ValueError:
        return False


@lru_cache(256)
def _name(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def _joined(given: Any, extra: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer, with ours where it has none of that name."""
    names = {name.lower() for name, _ in given}
    return [*given, *(each for each in extra if each[0] not in names)]


def _patient(receive: Receive, state: Mapping[str, Any]) -> Receive:
    """A body must come within its time; whoever sends a byte now and then holds nothing. Of content that is streamed
    each piece has that time."""
    is_over = False
    until: float | None = None

    async def wait() -> Any:
        nonlocal is_over, until
        if is_over:
            return await receive()  # waits for the client to leave; a stream may stay for days
        coming: Any = receive()
        try:
            pending = coming.send(None)
        except StopIteration as come:  # it was there already, and needs no clock
            message = come.value
        else:
            if until is None or state.get("streams"):
                until = asyncio.get_running_loop().time() + BODY_SECONDS
            try:
                async with asyncio.timeout_at(until):
                    message = await _resumed(coming, pending)
            except TimeoutError:
                is_over = True
                detail = f"The body did not come within {BODY_SECONDS:.0f} seconds."
                raise RefusedRequest(408, "request.too_slow", detail, headers={"Connection": "close"}) from None
        is_over = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    return wait


@coroutine
def _resumed(coming: Any, pending: Any) -> Generator[Any, Any, Any]:
    """Goes on with a coroutine from what it was found waiting for."""
    try:
        yield pending
    except BaseException:
        coming.close()
        raise
    return (yield from coming)


def _refused(error: Exception, scope: Scope) -> Response:
    """The problem that an exception is told as; only broken requests are logged."""
    refusal = refusal_of(error)
    if refusal.problem.status == 500:
        log.error("request %s %s broke", scope["method"], scope["path"], exc_info=error)
    body = refusal.body(scope["path"], scope["state"]["request_id"])
    return Response(body, refusal.problem.status, media=MEDIA, headers=refusal.headers)
