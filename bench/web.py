"""A client of little cost: HTTP/1.1 on raw sockets, just enough to load a server from a second process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import msgspec


class Connection:
    """One connection that is kept open; requests follow one another."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._head = f"Host: {host}:{port}\r\nContent-Type: application/json\r\n"

    async def open(self) -> Connection:
        self.reader, self._writer = await asyncio.open_connection(self._host, self._port)
        return self

    def close(self) -> None:
        self._writer.close()

    async def ask(self, method: str, path: str, body: bytes = b"", extra: str = "") -> tuple[int, bytes]:
        """The status and the body of an answer."""
        self._send(method, path, body, extra)
        head = await self.reader.readuntil(b"\r\n\r\n")
        status, length = int(head[9:12]), 0
        for line in head.split(b"\r\n"):
            if line[:15].lower() == b"content-length:":
                length = int(line[15:])
        return status, await self.reader.readexactly(length)

    async def follow(self, path: str) -> None:
        """Ask for a stream; what comes is read from `reader`."""
        self._send("GET", path, b"", "Accept: text/event-stream\r\n")
        head = await self.reader.readuntil(b"\r\n\r\n")
        if head[9:12] != b"200":
            raise RuntimeError(head.decode("latin-1"))

    def _send(self, method: str, path: str, body: bytes, extra: str) -> None:
        head = f"{method} {path} HTTP/1.1\r\n{self._head}{extra}Content-Length: {len(body)}\r\n\r\n"
        self._writer.write(head.encode() + body)


async def drive(connections: list[Connection], ask: Callable[[Connection], Awaitable[None]], count: int) -> float:
    """So many requests over all connections; returns the seconds it took."""
    left = count

    async def work(connection: Connection) -> None:
        nonlocal left
        while left > 0:
            left -= 1
            await ask(connection)

    began = time.perf_counter()
    await asyncio.gather(*(work(each) for each in connections))
    return time.perf_counter() - began


async def call_step(connection: Connection) -> None:
    """One call of a verb that does nothing, through to its durable end."""
    status, body = await connection.ask("POST", "/api/verbs/bench.step/calls", b'{"args":{"payload":{}}}')
    if status != 201 or b'"completed"' not in body:
        raise RuntimeError(f"{status}: {body[:300]!r}")


def id_in(body: bytes) -> str:
    return str(msgspec.json.decode(body)["id"])
