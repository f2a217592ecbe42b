"""Response batching: writes of one turn of the loop leave together, head and body.

Whoever reads many answers is woken once for them, and a server that is busy spends less on waking than on answering.
"""

from __future__ import annotations

import asyncio
from typing import Any


class Outbox:
    """What all connections have written in this turn."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._full: list[BatchedWrites] = []

    def add(self, connection: BatchedWrites) -> None:
        if not self._full:
            self._loop.call_soon(self._send)
        self._full.append(connection)

    def _send(self) -> None:
        full, self._full = self._full, []
        for connection in full:
            connection.send()


class BatchedWrites:
    """A transport whose writes wait for the end of the turn; in everything else it is the transport it stands for."""

    __slots__ = ("_outbox", "_parts", "_transport")

    def __init__(self, transport: Any, outbox: Outbox) -> None:
        self._transport = transport
        self._outbox = outbox
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._outbox.add(self)
        self._parts.append(data)

    def send(self) -> None:
        if self._parts:
            self._transport.write(b"".join(self._parts))
            self._parts.clear()

    def close(self) -> None:
        self.send()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
