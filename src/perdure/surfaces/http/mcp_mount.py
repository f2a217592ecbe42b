"""`/mcp`: where agents come in, when the package for their protocol is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from perdure.access.principal import Principal
from perdure.app import Perdure
from perdure.surfaces.http.asgi import ASGIApp, Receive, Scope, Send
from perdure.surfaces.http.endpoint import Endpoint
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.router import ANY

PATH = "/mcp"


def agent_routes(perdure: Perdure, hosts: frozenset[str] | None, max_body_bytes: int) -> list[Endpoint]:
    """The route for agents; none without the extra `mcp`."""
    if find_spec("mcp") is None:
        return []
    app = _WhenAsked(lambda: _make(perdure, hosts, max_body_bytes))

    async def agents(request: JsonRequest) -> ASGIApp:
        return app

    return [Endpoint("agents", ANY, (PATH,), agents, "session.read")]


class _WhenAsked:
    """An application that is made when somebody asks for it: its package takes as long to load as all the others."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._app: Any = None
        self._making = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._making:  # several may come first: all of them meet in one
            if self._app is None:
                self._app = await asyncio.to_thread(self._make)  # others are answered meanwhile
        await self._app(scope, receive, send)


def _make(perdure: Perdure, hosts: frozenset[str] | None, max_body_bytes: int) -> Any:
    from perdure.surfaces.mcp.http_transport import make_mcp_app  # noqa: PLC0415  an extra that need not be installed

    return make_mcp_app(perdure, _principal, hosts=hosts, max_body_bytes=max_body_bytes)


def _principal(scope: Any) -> Principal | None:
    """Who asks by a key or a token of their own; neither a page's session nor the token of one wait opens this."""
    state = scope["state"]
    found: Principal | None = state.get("principal")
    return None if state.get("session") is not None or state.get("wait") is not None else found
