"""Connection limits: those of one address are counted, and the head of a request is bounded in size and time."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from perdure.surfaces.http.rate_limits import anonymous
from perdure.surfaces.http.response_batching import BatchedWrites, Outbox
from perdure.work.fair_slots import FairSlots

MAX_HEAD_BYTES = 65_536
HEAD_SECONDS = 30.0
"""How long a client may take to say what it wants; whoever only connects holds nothing for longer."""


MOST_CONNECTIONS = 8192
"""Connections at once; those of an address are at most as many as are free: half of them, alone."""
_REFUSED = (
    b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/problem+json\r\nRetry-After: 5\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n%s"
)
_PROBLEM = (
    b'{"type":"/problems/request.too_many_connections","title":"Too Many Requests","status":429,'
    b'"detail":"Expected to open a connection, but this address has as many open as are left for others.",'
    b'"code":"request.too_many_connections","hint":"Close one, or come back later."}'
)


def bounded_heads() -> Any:
    """What uvicorn makes of each connection; all of them send together."""
    return partial(BoundedHeads, outbox=Outbox(asyncio.get_running_loop()), slots=FairSlots(MOST_CONNECTIONS))


class BoundedHeads(HttpToolsProtocol):
    """Reads requests from a socket. The parser itself would wait for the end of a head for ever, and keep all of it."""

    _head_bytes = 0
    _late: asyncio.TimerHandle | None = None

    _address: str | None = None

    def __init__(self, *, outbox: Outbox, slots: FairSlots, **given: Any) -> None:
        super().__init__(**given)
        self._outbox = outbox
        self._slots = slots

    def connection_made(self, transport: Any) -> None:
        address = anonymous(transport.get_extra_info("peername"))
        if self._slots.take_at_once(address):
            self._address = address
        else:
            transport.write(_REFUSED % (len(_PROBLEM), _PROBLEM))
            transport.close()
        super().connection_made(BatchedWrites(transport, self._outbox))  # type: ignore[arg-type]
        self._expect()

    def data_received(self, data: bytes) -> None:
        if self._address is None:
            return  # it was refused, and is being closed
        super().data_received(data)
        if self._late is not None:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self.transport.abort()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._expect()

    def on_headers_complete(self) -> None:
        self._arrived()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._arrived()
        if self._address is not None:
            self._slots.give_back(self._address)
            self._address = None
        super().connection_lost(exc)

    def _expect(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _arrived(self) -> None:
        if self._late is not None:
            self._late.cancel()
        self._late, self._head_bytes = None, 0
