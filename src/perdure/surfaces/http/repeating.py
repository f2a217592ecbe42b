"""Asked again under the same `Idempotency-Key`: the same answer is given, and nothing is done twice.

Operations that know keys themselves (starts) are handed the key; the answers of all others are kept. Only what was done
is kept: a refusal changed nothing, and the next request is looked at anew.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from perdure.access.principal import Principal
from perdure.sources import Sources
from perdure.surfaces.http.problems import REUSED, REUSED_HINT, RefusedRequest
from perdure.work.ports import AnswerBook, Answered

LONGEST_KEY = 200
_KEPT_HEADERS = frozenset({b"content-type", b"etag", b"location"})


class Whole(msgspec.Struct, frozen=True, array_like=True):
    """The part of an answer that the table keeps as bytes."""

    headers: list[tuple[bytes, bytes]]
    body: bytes


def repeating(app: ASGIApp, book: AnswerBook, sources: Sources, most_bytes: int) -> ASGIApp:
    """Middleware; stands behind the one that says who asks."""
    running: set[tuple[str, str, str]] = set()

    async def repeated(scope: Scope, receive: Receive, send: Send) -> None:
        key = _key_of(scope)
        principal: Principal | None = scope["state"].get("principal") if key else None
        if not key or principal is None or _repeats(scope) != "answer":
            await app(scope, receive, send)
            return
        name = (principal.tenant, principal.name, key)
        if name in running:
            hint = "Wait for it, then ask again under the same key."
            detail = "The request with this Idempotency-Key is still running."
            raise RefusedRequest(409, "idempotency.running", detail, hint, headers={"Retry-After": "1"})
        running.add(name)
        try:
            body = await _read(receive, most_bytes)
            known = await book.find(*name)
            if known is not None:
                await _answer_again(send, known, _digest(scope, body))
                return
            answer = _Answer(send)
            await app(scope, _again(body, receive), answer.hear)
            if 200 <= answer.status < 300:
                kept = Answered(_digest(scope, body), answer.status, answer.whole(), sources.now())
                await book.keep(*name, kept)
            await answer.tell()
        finally:
            running.discard(name)

    return repeated


class _Answer:
    """Holds an answer back until it is kept: who has seen it may rely on getting it again."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._messages: list[Message] = []
        self.status = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._parts: list[bytes] = []

    async def hear(self, message: Message) -> None:
        self._messages.append(message)
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self._headers = [(name, value) for name, value in message["headers"] if name.lower() in _KEPT_HEADERS]
        elif message["type"] == "http.response.body":
            self._parts.append(message.get("body", b""))

    def whole(self) -> bytes:
        return msgspec.msgpack.encode(Whole(self._headers, b"".join(self._parts)))

    async def tell(self) -> None:
        for message in self._messages:
            await self._send(message)


async def _answer_again(send: Any, known: Answered, request: bytes) -> None:
    if known.request != request:
        raise RefusedRequest(422, "idempotency.reused", REUSED, REUSED_HINT)
    whole = msgspec.msgpack.decode(known.body, type=Whole)
    length = (b"content-length", str(len(whole.body)).encode())
    headers = [*whole.headers, length, (b"idempotency-replayed", b"true")]
    await send({"type": "http.response.start", "status": known.status, "headers": headers})
    await send({"type": "http.response.body", "body": whole.body, "more_body": False})


async def _read(receive: Any, most_bytes: int) -> bytes:
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


def _again(body: bytes, receive: Any) -> Any:
    """The body once more, for whoever reads it behind us."""
    is_given = False

    async def again() -> Any:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _key_of(scope: Any) -> str:
    if scope["type"] != ScopeType.HTTP or scope["method"] != "POST":
        return ""
    key = next((value for name, value in scope["headers"] if name == b"idempotency-key"), b"").decode("latin-1")
    if len(key) > LONGEST_KEY or not key.isprintable() or not key.isascii():
        detail = f"An Idempotency-Key has at most {LONGEST_KEY} letters of ASCII."
        raise RefusedRequest(422, "idempotency.invalid", detail)
    return key


def _repeats(scope: Any) -> str:
    handler = scope.get("route_handler")
    return str(handler.opt.get("repeats", "")) if handler is not None else ""


def _digest(scope: Any, body: bytes) -> bytes:
    target = scope["path"].encode() + b"?" + scope.get("query_string", b"")
    return sha256(len(target).to_bytes(4, "big") + target + body).digest()
