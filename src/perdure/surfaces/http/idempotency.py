"""Asked again under the same `Idempotency-Key`: the same answer is given, and nothing is done twice.

Operations that know keys themselves (starts) are handed the key; the answers of all others are kept. Who acts has
claimed the key in the store before: of several servers one does, and the others say that it is running. Only what was
done is kept: a refusal changed nothing, and the next request is looked at anew.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from hashlib import sha256

import msgspec

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.errors import PerdureError
from perdure.sources import SECOND, Sources
from perdure.surfaces.http.asgi import ASGIApp, Scope
from perdure.surfaces.http.endpoint import Endpoint
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.json_response import Response
from perdure.surfaces.http.problem_details import REUSED, REUSED_HINT, RefusedRequest
from perdure.typed_reading import read_msgpack
from perdure.work.ports import AnswerBook, Answered, Claim

LONGEST_KEY = 200
ERASED = "The request with this Idempotency-Key was carried out; its answer was erased with the data it told of."
ERASED_HINT = "Nothing is done again. Use a new key for a new request."
CLAIM_SECONDS = 15
"""How long a claim holds that nobody renews: then its server was killed, and the next one who asks acts."""
RENEWED_SECONDS = 4
_KEPT_HEADERS = frozenset({b"content-type", b"etag", b"location"})


class Whole(msgspec.Struct, frozen=True, array_like=True):
    """The part of an answer that the table keeps as bytes."""

    headers: list[tuple[bytes, bytes]]
    body: bytes


class Repeats:
    """Answers under keys, in front of the endpoints that do not know keys themselves."""

    def __init__(self, book: AnswerBook, sources: Sources) -> None:
        self._book, self._sources = book, sources
        self._running: set[tuple[str, str, str]] = set()

    async def answer(self, request: JsonRequest, endpoint: Endpoint) -> ASGIApp:
        """The answer of an endpoint, or the one that it gave before."""
        key, principal = _key_of(request), request.own.get("principal")
        if not key or principal is None or endpoint.repeat != "answer":
            return await endpoint.function(request)
        check(principal, endpoint.operation)  # an answer is kept for whoever may still ask for it
        name = (principal.tenant, principal.name, key)
        if name in self._running:
            raise _running()
        self._running.add(name)
        try:
            turn = _Turn(self._book, self._sources, name, _digest(request.scope, await request.body(), principal))
            known = await turn.begin()
            if known is not None:
                return _again(known, turn.request)
            async with turn:
                response = await endpoint.function(request)
                if isinstance(response, Response) and response.status < 300:
                    await turn.keep(response.status, _whole(response))
            return response  # only now: a reader of the answer may rely on getting it again
        finally:
            self._running.discard(name)


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
            await self._sources.sleep(RENEWED_SECONDS * SECOND)
            with suppress(PerdureError):
                if not await self._book.renew(*self._name, self._owner, self._sources.now()):
                    return


def _running() -> RefusedRequest:
    hint = "Wait for it, then ask again under the same key."
    detail = "The request with this Idempotency-Key is still running."
    return RefusedRequest(409, "idempotency.running", detail, hint, headers={"Retry-After": "1"})


def _whole(response: Response) -> bytes:
    kept = [(name, value) for name, value in response.headers if name in _KEPT_HEADERS]
    return msgspec.msgpack.encode(Whole(kept, response.body))


def _again(known: Answered, request: bytes) -> Response:
    if known.request != request:
        raise RefusedRequest(422, "idempotency.reused", REUSED, REUSED_HINT)
    if not known.body:
        raise RefusedRequest(410, "idempotency.erased", ERASED, ERASED_HINT)
    whole = read_msgpack(known.body, Whole)
    response = Response(whole.body, known.status, headers={"Idempotency-Replayed": "true"})
    response.headers += whole.headers
    return response


def _key_of(request: JsonRequest) -> str:
    key = request.header(b"idempotency-key") if request.scope["method"] == "POST" else None
    if key is None:
        return ""
    if len(key) > LONGEST_KEY or not key.isprintable() or not key.isascii():
        detail = f"An Idempotency-Key has at most {LONGEST_KEY} letters of ASCII."
        raise RefusedRequest(422, "idempotency.invalid", detail)
    return key


def _digest(scope: Scope, body: bytes, principal: Principal) -> bytes:
    """A request as it is told from others. What another key of theirs reaches is another request: an answer is never
    given to a key that reaches less than the one it was made for."""
    target = scope["path"].encode() + b"?" + scope.get("query_string", b"")
    reach = b"" if principal.reaches_every_verb else b"\0" + "\0".join(sorted(principal.verbs)).encode()
    return sha256(len(target).to_bytes(4, "big") + target + body + reach).digest()
