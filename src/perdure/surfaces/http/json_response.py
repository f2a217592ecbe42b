"""The response: status, headers and body in two messages; most are JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from perdure.surfaces.http.asgi import Receive, Scope, Send
from perdure.surfaces.http.json_request import JsonRequest

JSON = "application/json"
HTML = "text/html; charset=utf-8"
ASK_AGAIN = "no-cache"
Headers = Mapping[str, str]
NONE: Headers = {}
EMPTY = frozenset({204, 304})
"""Statuses of responses without a body."""


class Response:
    """A whole response, as an application that answers one request."""

    __slots__ = ("body", "headers", "status")

    def __init__(
        self,
        body: bytes = b"",
        status: int = 200,
        media: str = "",
        headers: Headers = NONE,
        cookies: Sequence[str] = (),
    ) -> None:
        self.status, self.body = status, body
        self.headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
        self.headers += [(b"set-cookie", each.encode("latin-1")) for each in cookies]
        if media:
            self.headers.append((b"content-type", media.encode()))
        if status not in EMPTY:
            self.headers.append((b"content-length", b"%d" % len(body)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": False})


def answer(value: Any, status: int = 200, headers: Headers = NONE, cookies: Sequence[str] = ()) -> Response:
    """A value as JSON; nothing where the status says that nothing follows."""
    if status in EMPTY:
        return Response(status=status, headers=headers, cookies=cookies)
    return Response(msgspec.json.encode(value), status, media=JSON, headers=headers, cookies=cookies)


def tagged(request: JsonRequest, body: bytes, media: str, tag: str, cached: str = ASK_AGAIN) -> Response:
    """A body that changes rarely: nothing is sent to a reader that has it."""
    headers = {"ETag": tag, "Cache-Control": cached}
    if request.header(b"if-none-match") == tag:
        return Response(status=304, headers=headers)
    return Response(body, media=media, headers=headers)
