"""Streams of events: as many as the server carries, each ending when its reader leaves, the server stops or its
credential is no longer good."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from perdure.access.principal import Principal
from perdure.surfaces.http.asgi import Receive, Scope, Send
from perdure.surfaces.http.problem_details import RefusedRequest
from perdure.work.fair_slots import FairSlots

if TYPE_CHECKING:
    from perdure.telemetry.metrics import Metrics

MEDIA = "text/event-stream"
PULSE_SECONDS = 15.0
"""A comment is sent at least so often, and the credential looked at again."""
MOST_STREAMS = 4096
"""Streams and waiting requests at once; those of a tenant are at most as many as are free: half of them, alone."""
MOST_STREAMS_EACH = 512
"""Those of one principal, whatever keys it shows."""
MOST_EVENTS = 10_000
"""Events that one stream sends; then it says so and ends, and its reader comes back from where it was."""
BOUNDED = "stream.bounded"
_HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]
RETRY = b"retry: 2000\n\n"
PULSE = b": still here\n\n"


class Streams:
    """Those that are open, by who reads them."""

    def __init__(
        self, most: int = MOST_STREAMS, most_each: int = MOST_STREAMS_EACH,
        metrics: Callable[[], Metrics | None] = lambda: None,
    ) -> None:  # fmt: skip
        self._slots, self._most_each = FairSlots(most), most_each
        self._open: Counter[str] = Counter()
        self._stops: dict[asyncio.Future[None], Metrics | None] = {}
        """With what each was counted when it began: where counting begins later, it is not counted off."""
        self._metrics = metrics

    def __len__(self) -> int:
        return len(self._stops)

    def check(self, principal: Principal) -> None:
        """Refuse one more than the principal or its tenant may have."""
        held = self._slots.held_by(principal.tenant)
        if self._open[_name(principal)] >= self._most_each:
            raise _too_many(f"{principal.name} has {self._most_each} streams open, as many as one may")
        if held >= self._slots.free:
            raise _too_many(f"this tenant has {held} streams open, as many as are left for others")

    def begin(self, principal: Principal) -> asyncio.Future[None]:
        """Counts it; the future is done when it has to stop."""
        self.check(principal)
        self._slots.take_at_once(principal.tenant)
        stop = asyncio.get_running_loop().create_future()
        self._stops[stop] = counted = self._metrics()
        if counted is not None:
            counted.stream_opened()
        self._open[_name(principal)] += 1
        return stop

    def end(self, principal: Principal, stop: asyncio.Future[None]) -> None:
        stop.cancel()
        self._slots.give_back(principal.tenant)
        if (counted := self._stops.pop(stop, None)) is not None:
            counted.stream_closed()
        name = _name(principal)
        self._open[name] -= 1
        if not self._open[name]:
            del self._open[name]

    def stop(self) -> None:
        """All of them end now; their readers come back elsewhere."""
        for each in self._stops:
            if not each.done():
                each.set_result(None)


class EventStream:
    """Sends chunks as they come. An empty one is sent as a comment, so that nobody takes silence for an end."""

    def __init__(
        self, streams: Streams, principal: Principal, chunks: AsyncIterator[bytes],
        is_good: Callable[[], Awaitable[bool]],
    ) -> None:  # fmt: skip
        streams.check(principal)
        self._streams, self._principal, self._chunks, self._is_good = streams, principal, chunks, is_good

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        stop = self._streams.begin(self._principal)
        leaving = asyncio.ensure_future(_left(receive))
        pumping = asyncio.ensure_future(self._pump(send))
        try:
            await asyncio.wait({stop, leaving, pumping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._streams.end(self._principal, stop)
            leaving.cancel()
            pumping.cancel()
            await asyncio.gather(leaving, pumping, return_exceptions=True)
            await self._chunks.aclose()  # type: ignore[attr-defined]
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _pump(self, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await send({"type": "http.response.body", "body": RETRY, "more_body": True})
        loop = asyncio.get_running_loop()
        looked_at = loop.time()
        async for chunk in self._chunks:
            if loop.time() - looked_at >= PULSE_SECONDS:
                looked_at = loop.time()
                if not await self._is_good():
                    return
            await send({"type": "http.response.body", "body": chunk or PULSE, "more_body": True})


def sent_event(id: str, name: str, data: Mapping[str, Any] | msgspec.Struct) -> bytes:
    """One event as it is written."""
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (id.encode(), name.encode(), msgspec.json.encode(data))


async def bounded(chunks: AsyncIterator[bytes], most: int) -> AsyncIterator[bytes]:
    """So many events of a stream, then one that says that there may be more."""
    sent = 0
    try:
        async for chunk in chunks:
            sent += chunk.count(b"\nevent: ")
            yield chunk
            if sent >= most:
                told = {"events": sent, "hint": "Come back with the id of the last event as Last-Event-ID."}
                yield b"event: %s\ndata: %s\n\n" % (BOUNDED.encode(), msgspec.json.encode(told))
                return
    finally:
        await chunks.aclose()  # type: ignore[attr-defined]


def _too_many(fact: str) -> RefusedRequest:
    hint, headers = "Close one, or come back later.", {"Retry-After": "5"}
    detail = f"Expected to open a stream, but {fact}."
    return RefusedRequest(429, "request.too_many_streams", detail, hint, headers=headers)


async def _left(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _name(principal: Principal) -> str:
    return f"{principal.tenant}\0{principal.name}"
