"""Header limits: the head of a request is bounded in size and time before anything reads it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from perdure.surfaces.http.response_batching import BatchedWrites, Outbox

MAX_HEAD_BYTES = 65_536
HEAD_SECONDS = 30.0
"""How long a client may take to say what it wants; whoever only connects holds nothing for longer."""


def bounded_heads() -> Any:
    """What uvicorn makes of each connection; all of them send together."""
    return partial(BoundedHeads, outbox=Outbox(asyncio.get_running_loop()))


class BoundedHeads(HttpToolsProtocol):
    """Reads requests from a socket. The parser itself would wait for the end of a head for ever, and keep all of it."""

    _head_bytes = 0
    _late: asyncio.TimerHandle | None = None

    def __init__(self, *, outbox: Outbox, **given: Any) -> None:
        super().__init__(**given)
        self._outbox = outbox

    def connection_made(self, transport: Any) -> None:
        super().connection_made(BatchedWrites(transport, self._outbox))  # type: ignore[arg-type]
        self._expect()

    def data_received(self, data: bytes) -> None:
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
        super().connection_lost(exc)

    def _expect(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _arrived(self) -> None:
        if self._late is not None:
            self._late.cancel()
        self._late, self._head_bytes = None, 0
