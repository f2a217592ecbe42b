"""Sending: what is written to a connection in one turn of the loop goes out together, head and body alike."""

from __future__ import annotations

import asyncio
from typing import Any


class JoinedWrites:
    """A transport whose writes wait for the end of the turn; in everything else it is the transport it stands for."""

    __slots__ = ("_loop", "_parts", "_transport")

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._send)
        self._parts.append(data)

    def close(self) -> None:
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if self._parts:
            self._transport.write(b"".join(self._parts))
            self._parts.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
