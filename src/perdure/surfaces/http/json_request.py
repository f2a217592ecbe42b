"""The JSON request: a body of JSON and nothing else, of bounded depth."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from litestar import Request
from litestar.types import Receive

from perdure.surfaces.http.problem_details import RefusedRequest

DEEPEST = 64
"""How far objects and lists may be nested in a body."""
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")
_OPENING = frozenset({b"[", b"{"})


class JsonRequest(Request[Any, Any, Any]):
    """A request whose body is JSON; a page elsewhere cannot send one without asking the browser first."""

    _whole: bytes | None = None

    async def body(self) -> bytes:
        if self._whole is None:
            self._whole = await read_body(self.receive, self.app.state.settings.max_body_bytes)
        return self._whole

    async def json(self) -> Any:
        media = header_of(self.scope, b"content-type").partition(";")[0].strip().lower()
        if media != "application/json" and not (media.startswith("application/") and media.endswith("+json")):
            hint = "Send it as application/json."
            raise RefusedRequest(415, "request.media_type", f"A body of type '{media[:80]}' is not read here.", hint)
        return decoded(await self.body())


def header_of(scope: Any, wanted: bytes) -> str:
    """The first header of that name, without making a mapping of them all; empty when there is none."""
    for name, value in scope["headers"]:
        if name == wanted:
            return str(value, "latin-1")
    return ""


async def read_body(receive: Receive, most_bytes: int) -> bytes:
    """The whole body, as far as it may be long."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise RefusedRequest(400, "request.malformed", "The body did not come to its end.")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most_bytes:
            raise RefusedRequest(413, "request.too_large", f"A body may have {most_bytes:,} bytes.")
        if not message.get("more_body", False):
            return b"".join(parts)


def decoded(body: bytes) -> Any:
    """The value of a body; refused where it is no JSON, or nested too deep."""
    if _depth(body) > DEEPEST:
        raise RefusedRequest(400, "request.too_deep", f"The body is nested deeper than {DEEPEST} levels.")
    try:
        return msgspec.json.decode(body)
    except (ValueError, RecursionError) as error:
        raise RefusedRequest(400, "request.malformed", f"The body is not JSON: {error}.") from error


def _depth(body: bytes) -> int:
    # Only what has many brackets is looked at closely.
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return 0
    deepest = depth = 0
    for bracket in _BRACKETS.findall(_STRINGS.sub(b"", body)):
        depth += 1 if bracket in _OPENING else -1
        deepest = max(deepest, depth)
    return deepest
