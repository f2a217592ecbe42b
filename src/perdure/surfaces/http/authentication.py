"""Authentication: the principal of a request, known before the route reads its body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

from perdure.access.principal import Principal, local
from perdure.surfaces.http.authorization import guard


class Authenticator(Protocol):
    """Tells who asks from the headers; None when nobody says; raises RefusedRequest when a credential is bad."""

    async def identify(self, scope: Any) -> Principal | None: ...


class Open:
    """Everyone is the local person: such a server listens on loopback only. Who shows a credential is whom it names."""

    def __init__(self, credentials: Authenticator) -> None:
        self._credentials = credentials

    async def identify(self, scope: Any) -> Principal | None:
        is_shown = any(name == b"authorization" for name, _ in scope["headers"])
        return await self._credentials.identify(scope) if is_shown else local()


def authenticating(app: ASGIApp, authenticator: Authenticator, on_look: Callable[[], None]) -> ASGIApp:
    """Middleware that leaves the principal in the scope's state, and lets through who may do what the route does.

    `on_look` is told when one of them reads: strangers narrow nothing for others.
    """

    async def identified(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == ScopeType.HTTP:
            principal = scope["state"]["principal"] = await authenticator.identify(scope)
            guard(scope)
            if principal is not None and scope["method"] == "GET":
                on_look()
        await app(scope, receive, send)

    return identified
