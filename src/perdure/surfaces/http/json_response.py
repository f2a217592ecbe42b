"""The answer most routes give: JSON with a status and a few headers, made with as little ado as it needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from litestar import Request, Response
from litestar.response.base import ASGIResponse
from litestar.serialization import encode_json
from litestar.types import Receive, Scope, Send

T = TypeVar("T")


class Answer(Response[T]):
    """A value as JSON: no cookies, no other media type, nothing to be done afterwards."""

    def __init__(self, content: T, status: int = 200, headers: Mapping[bytes, str] | None = None) -> None:
        # What else an answer can have costs a good part of making one, and this one has none of it.
        self.content, self.status_code, self._more = content, status, headers or {}

    def to_asgi_response(self, app: Any, request: Request[Any, Any, Any], **_: Any) -> ASGIResponse:
        return _Told(self.status_code or 200, encode_json(self.content), self._more)


class _Told(ASGIResponse):
    """The two messages of an answer."""

    __slots__ = ("_headers",)

    def __init__(self, status: int, body: bytes, headers: Mapping[bytes, str]) -> None:
        self.status_code, self.body = status, body if status != 204 else b""
        self._headers = [(name, value.encode()) for name, value in headers.items()]
        if status != 204:
            self._headers += [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self._headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": False})
