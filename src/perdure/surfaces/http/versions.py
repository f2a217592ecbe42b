"""Which state of a thing an answer shows (`ETag`), and acting only on the state that was seen (`If-Match`)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

from litestar import Request, Response

from perdure.app import Perdure
from perdure.sources import parse_id
from perdure.surfaces.http.answering import Answer
from perdure.surfaces.http.problems import RefusedRequest

_TAG = re.compile(r'(W/)?"([^"]*)"')


class Versioned(Protocol):
    """A view that says how many records its journal had."""

    @property
    def sequence(self) -> int: ...


V = TypeVar("V", bound=Versioned)


def tag_of(sequence: int) -> str:
    return f'"{sequence}"'


def tagged(view: V, status: int = 200, *, location: str = "") -> Response[V]:
    """An answer with the tag of the state it shows."""
    headers = {b"etag": tag_of(view.sequence)}
    if location:
        headers[b"location"] = location
    return Answer(view, status, headers)


class Turns:
    """One at a time for each thing that somebody acts on with `If-Match`: what was compared still holds then."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def of(self, name: str) -> AsyncIterator[None]:
        lock, waiting = self._locks.get(name) or (asyncio.Lock(), 0)
        self._locks[name] = (lock, waiting + 1)
        try:
            async with lock:
                yield
        finally:
            lock, waiting = self._locks[name]
            if waiting > 1:
                self._locks[name] = (lock, waiting - 1)
            else:
                del self._locks[name]


@asynccontextmanager
async def unchanged(request: Request[Any, Any, Any], perdure: Perdure, id: str) -> AsyncIterator[int | None]:
    """Act inside; refused with 412 when `If-Match` names another state than that of the runbook, call or instance.

    Gives the sequence that was compared, None where the request does not care.
    """
    wanted = request.headers.get("if-match")
    if wanted is None:
        yield None
        return
    turns: Turns = request.app.state.turns
    async with turns.of(id):
        sequence = await sequence_of(perdure, id)
        check_match(wanted, sequence)
        yield sequence


async def sequence_of(perdure: Perdure, id: str) -> int:
    """How many records the journal of a thing has now."""
    aggregate = await perdure.runtime.kernel.read(parse_id(id), perdure._origin)
    return aggregate.version


def check_match(wanted: str, sequence: int) -> None:
    """Refuse when none of the tags is that of this state; a weak tag is none."""
    if wanted.strip() == "*":
        return
    if not any(not weak and tag == str(sequence) for weak, tag in _TAG.findall(wanted)):
        detail = f"It has changed since it was read: it is {tag_of(sequence)} now."
        raise RefusedRequest(
            412, "request.stale", detail, "Read it again and decide anew.", headers={"ETag": tag_of(sequence)}
        )
