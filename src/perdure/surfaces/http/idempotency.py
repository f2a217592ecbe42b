"""Asked again under the same `Idempotency-Key`: the same answer is given, and nothing is done twice.

Operations that know keys themselves (starts) are handed the key; the answers of all others are kept. Who acts has
claimed the key in the store before: of several servers one does, and the others say that it is running. Only what was
done is kept: a refusal changed nothing, and the next request is looked at anew.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from hashlib import sha256
from typing import Any

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from perdure.access.principal import Principal
from perdure.errors import PerdureError
from perdure.sources import SECOND, Sources
from perdure.surfaces.http.json_request import header_of, read_body
from perdure.surfaces.http.problem_details import REUSED, REUSED_HINT, RefusedRequest
from perdure.work.ports import AnswerBook, Answered, Claim

LONGEST_KEY = 200
CLAIM_SECONDS = 15
"""How long a claim holds that nobody renews: then its server was killed, and the next one who asks acts."""
RENEWED_SECONDS = 4
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
            raise _running()
        running.add(name)
        try:
            body = await read_body(receive, most_bytes)
            turn = _Turn(book, sources, name, _digest(scope, body))
            known = await turn.begin()
            if known is not None:
                await _answer_again(send, known, turn.request)
                return
            answer = _Answer(send)
            async with turn:
                await app(scope, _again(body, receive), answer.hear)
                if 200 <= answer.status < 300:
                    await turn.keep(answer.status, answer.whole())
            await answer.tell()
        finally:
            running.discard(name)

    return repeated


class _Turn:
    """The right to act under a key, of one server among all that share a store: claimed first, renewed while it lasts,
    and given back where nothing was done. Of a server that was killed it is over after `CLAIM_SECONDS`."""

    def __init__(self, book: AnswerBook, sources: Sources, name: tuple[str, str, str], request: bytes) -> None:
        self._book = book
        self._sources = sources
        self._name = name
        self.request = request
        self._owner = bytes(sources.new_id())
        self._is_kept = False

    async def begin(self) -> Answered | None:
        """None when we are to act; else what was answered before. Refused while another one acts."""
        now = self._sources.now()
        claim = Claim(self.request, self._owner, now, now - CLAIM_SECONDS * SECOND)
        known = await self._book.claim(*self._name, claim)
        if known == "running":
            raise _running()
        return known

    async def keep(self, status: int, body: bytes) -> None:
        """Remember the answer, unless we were thought dead and somebody else acts or has acted: then theirs stands."""
        answered = Answered(self.request, status, body, self._sources.now())
        await self._book.settle(*self._name, self._owner, answered)
        self._is_kept = True

    async def __aenter__(self) -> None:
        self._renewing = asyncio.ensure_future(self._renew())

    async def __aexit__(self, *_: object) -> None:
        self._renewing.cancel()
        if not self._is_kept:
            with suppress(PerdureError):  # what cannot be given back now is over by itself
                await self._book.release(*self._name, self._owner)

    async def _renew(self) -> None:
        while True:
            await self._sources.sleep_until(self._sources.now() + RENEWED_SECONDS * SECOND)
            with suppress(PerdureError):
                if not await self._book.renew(*self._name, self._owner, self._sources.now()):
                    return


def _running() -> RefusedRequest:
    hint = "Wait for it, then ask again under the same key."
    detail = "The request with this Idempotency-Key is still running."
    return RefusedRequest(409, "idempotency.running", detail, hint, headers={"Retry-After": "1"})


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
    key = header_of(scope, b"idempotency-key")
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
