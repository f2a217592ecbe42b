"""The server over streamable HTTP, to be mounted where requests have been authenticated.

No request relies on one before it: there are no sessions to take over, and any process may answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import msgspec
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp, Receive, Scope, Send

from perdure.access.principal import Principal
from perdure.app import Perdure
from perdure.errors import RejectedError, Rejection
from perdure.surfaces.mcp.server import Context, Protocol
from perdure.surfaces.mcp.tool_errors import Refusal

MAX_BODY_BYTES = 1024 * 1024
SESSION = b"mcp-session-id"
NO_STORE = (b"cache-control", b"no-store")
PrincipalOfScope = Callable[[Scope], Principal | None]


def make_mcp_app(
    perdure: Perdure,
    principal_of_scope: PrincipalOfScope,
    *,
    hosts: frozenset[str] | None = None,
    max_body_bytes: int = MAX_BODY_BYTES,
) -> ASGIApp:
    """An ASGI application for one path. `hosts` are the names it answers to; None for any, where all must sign in."""

    def who(context: Context) -> Principal:
        request = context.request
        found = principal_of_scope(request.scope) if request is not None else None
        if found is None:
            raise RejectedError(Rejection("forbidden", "use", "server", "mcp", "nobody is signed in"))
        return as_agent(found)

    server = Protocol(perdure, who).server()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if (refused := _refused(scope, principal_of_scope(scope), hosts)) is not None:
            await _send(send, *refused)
            return
        manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=max_body_bytes
        )
        async with manager.run():  # its tasks end with the request that began them
            await manager.handle_request(scope, receive, _unstored(send))

    return app


def as_agent(principal: Principal) -> Principal:
    """What comes this way was composed by a model, whoever lent it the key: it can confirm nothing."""
    return msgspec.structs.replace(principal, kind="agent") if principal.is_person else principal


def _refused(scope: Any, principal: Principal | None, hosts: frozenset[str] | None) -> tuple[int, Refusal] | None:
    if scope["method"] != "POST":
        return 405, Refusal("request.method", "Requests are posted; nothing is sent unasked.", -32600)
    headers = dict(scope["headers"])
    host = _name(f"//{headers.get(b'host', b'').decode('latin-1')}")
    origin = headers.get(b"origin", b"").decode("latin-1")
    if hosts is not None and host not in hosts:
        return 421, Refusal("request.host", "This server does not answer to that name.", -32600)
    if origin and _name(origin) not in (hosts or frozenset({host})):
        return 403, Refusal("request.origin", "A page of another site may not act here.", -32600)
    if principal is None:
        hint = "Send 'Authorization: Bearer <key>'."
        return 401, Refusal("access.unauthenticated", "Nobody is signed in.", -32005, hint)
    if principal.via in ("session", "wait"):
        hint = "Send 'Authorization: Bearer <key>'."
        return 401, Refusal("access.unauthenticated", f"The credential of a {principal.via} is no key.", -32005, hint)
    if SESSION in headers:
        return 404, Refusal("request.session", "There is no such session.", -32600, "Begin anew with 'initialize'.")
    return None


def _unstored(send: Send) -> Send:
    """Answers are for whoever asked: nothing on the way keeps them."""

    async def answer(message: Any) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), NO_STORE]
        await send(message)

    return answer


def _name(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


async def _send(send: Send, status: int, refused: Refusal) -> None:
    error = {"code": refused.number, "message": refused.message, "data": msgspec.to_builtins(refused)}
    body = msgspec.json.encode({"jsonrpc": "2.0", "id": None, "error": error})
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), NO_STORE]
    if status == 405:
        headers.append((b"allow", b"POST"))
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="perdure"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
