"""The JSON request: a body of JSON and nothing else, of bounded size and depth."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from perdure.surfaces.http.asgi import Receive, Scope
from perdure.surfaces.http.problem_details import RefusedRequest

DEEPEST = 64
"""How far objects and lists may be nested in a body."""
MOST_CONTAINERS = 100_000
"""Objects and lists in a body."""
_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_OTHERS = bytes(each for each in range(256) if each not in b"[]{}")
_ALIKE = bytes.maketrans(b"{}", b"[]")


class JsonRequest:
    """A request whose body is JSON; a page elsewhere cannot send one without asking the browser first."""

    __slots__ = ("_receive", "_whole", "is_read", "own", "scope", "state", "words")

    def __init__(self, scope: Scope, receive: Receive, state: Any, words: dict[str, str]) -> None:
        """`state` is that of the server, and `words` stand in the places of the path."""
        self.scope, self._receive, self.state, self.words = scope, receive, state, words
        self.own: dict[str, Any] = scope["state"]
        """The state of this request alone: principal, session, wait, id."""
        self._whole: bytes | None = None
        self.is_read = False
        """Whether the body came to its end."""

    @property
    def client(self) -> str:
        """The address that asks; empty where the server does not know it."""
        client = self.scope.get("client")
        return str(client[0]) if client else ""

    def header(self, name: bytes) -> str | None:
        """The first header of a name, without making a mapping of them all."""
        return next((str(value, "latin-1") for each, value in self.scope["headers"] if each == name), None)

    async def body(self) -> bytes:
        """The whole body, as far as it may be long."""
        if self._whole is not None:
            return self._whole
        whole, most_bytes, is_more = bytearray(), self.state.settings.max_body_bytes, True
        while is_more:
            message = await self._receive()
            if message["type"] != "http.request":
                raise RefusedRequest(400, "request.malformed", "The body did not come to its end.")
            whole += message.get("body", b"")
            if len(whole) > most_bytes:
                raise RefusedRequest(413, "request.too_large", f"A body may have {most_bytes:,} bytes.")
            is_more = message.get("more_body", False)
            self.is_read = not is_more
        self._whole = bytes(whole)
        return self._whole

    async def stream(self) -> AsyncIterator[bytes]:
        """The body piece by piece, as long as it is; each piece must come within the time of a whole body."""
        self.own["streams"], is_more = True, True
        while is_more:
            message = await self._receive()
            if message["type"] != "http.request":
                raise RefusedRequest(400, "request.malformed", "The body did not come to its end.")
            is_more = message.get("more_body", False)
            self.is_read = not is_more
            if data := message.get("body", b""):
                yield bytes(data)

    async def left(self) -> None:
        """Until whoever asked has left; the body must have been read."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def json(self) -> Any:
        """The value of a body of JSON."""
        media = (self.header(b"content-type") or "").partition(";")[0].strip().lower()
        if media != "application/json" and not (media.startswith("application/") and media.endswith("+json")):
            hint = "Send it as application/json."
            raise RefusedRequest(415, "request.media_type", f"A body of type '{media[:80]}' is not read here.", hint)
        return decoded(await self.body())


def decoded(body: bytes) -> Any:
    """The value of a body; refused where it is no JSON, nested too deep, or of too many objects and lists."""
    _check_nesting(body)
    try:
        return msgspec.json.decode(body)
    except (ValueError, RecursionError) as error:
        raise RefusedRequest(400, "request.malformed", f"The body is not JSON: {error}.") from error


def _check_nesting(body: bytes) -> None:
    """Refuse a body by its brackets alone, before it is read; no step of it is done for each of them."""
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return
    brackets = _STRINGS.sub(b"", body).translate(_ALIKE, _OTHERS)
    if brackets.count(b"[") > MOST_CONTAINERS:
        detail = f"The body holds more than {MOST_CONTAINERS:,} objects and lists."
        raise RefusedRequest(413, "request.too_large", detail, "Send it in parts.")
    for _ in range(DEEPEST):  # each round takes the innermost away
        brackets = brackets.replace(b"[]", b"")
        if not brackets:
            return
    raise RefusedRequest(400, "request.too_deep", f"The body is nested deeper than {DEEPEST} levels.")
