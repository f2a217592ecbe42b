"""Reading a body: JSON and nothing else, no deeper than a person would write it."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from litestar import Request

from perdure.surfaces.http.problems import RefusedRequest

DEEPEST = 64
"""How far objects and lists may be nested in a body."""
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")
_OPENING = frozenset({b"[", b"{"})


class JsonRequest(Request[Any, Any, Any]):
    """A request whose body is JSON; a page elsewhere cannot send one without asking the browser first."""

    async def json(self) -> Any:
        media = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media != "application/json" and not (media.startswith("application/") and media.endswith("+json")):
            hint = "Send it as application/json."
            raise RefusedRequest(415, "request.media_type", f"A body of type '{media[:80]}' is not read here.", hint)
        return decoded(await self.body())


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
