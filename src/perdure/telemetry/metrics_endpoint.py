"""`/metrics` for processes that serve nothing else: one path, read only, on this machine alone."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from perdure.errors import StoreSettingError

PATIENCE_SECONDS = 10.0
MAX_HEAD = 8192
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Scrape = Callable[[], Awaitable[bytes]]


@asynccontextmanager
async def listening(bind: str, scrape: Scrape) -> AsyncIterator[int]:
    """Answer scrapes at `host:port` until left; gives the port, which the system chose where 0 was asked for."""
    host, port = _address(bind)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(await _answer(head, scrape))
                await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass  # whoever asked so is not answered
        finally:
            writer.close()

    try:
        server = await asyncio.start_server(answer, host, port, limit=MAX_HEAD)
    except OSError as error:
        raise StoreSettingError("serve metrics at", "address", bind, str(error)) from error
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()
        await server.wait_closed()


def _address(bind: str) -> tuple[str, int]:
    host, _, port = bind.rpartition(":")
    try:
        is_near = ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        is_near = host == "localhost"
    if not is_near or not port.isdigit() or int(port) > 65_535:
        raise StoreSettingError(
            "serve metrics at", "address", bind, "it is not a port of this machine's loopback",
            "Write 127.0.0.1:9464, and let an agent on the same machine pass it on.",
        )  # fmt: skip
    return host.strip("[]"), int(port)


async def _answer(head: bytes, scrape: Scrape) -> bytes:
    method, _, rest = head.split(b"\r\n", 1)[0].partition(b" ")
    path = rest.split(b" ")[0].split(b"?")[0]
    if path != b"/metrics":
        return _response("404 Not Found", b"There is only /metrics here.\n")
    if method not in (b"GET", b"HEAD"):
        return _response("405 Method Not Allowed", b"Metrics can only be read.\n")
    body = await scrape()
    return _response("200 OK", body if method == b"GET" else b"")


def _response(status: str, body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {CONTENT_TYPE}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
