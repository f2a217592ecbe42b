"""The exporter tail: a receiver that answers like Elasticsearch, for the records that Camunda's exporter sends.

What is of use is written to our store before a request is answered: whoever answers without that loses it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import msgspec

from perdure.engines.camunda.exported_records import actions_of
from perdure.errors import PerdureError
from perdure.sources import SECOND, Sources

MAX_BODY = 256 * 1024 * 1024
MAX_HEAD = 64 * 1024
REBIND = 5 * SECOND
VERSION = {"name": "perdure", "cluster_name": "perdure", "version": {"number": "8.16.0"}, "tagline": "Perdure's tail"}
Keep = Callable[[bytes], Awaitable[None]]
"""Keeps what a bulk request brings; raises when it cannot."""
log = logging.getLogger("perdure")


class ExporterTail:
    """One of the processes of a store has the address; another takes it over when that one ends."""

    def __init__(self, place: str, keep: Keep, sources: Sources) -> None:
        host, _, port = place.rpartition(":")
        self._host, self._port = host.strip("[]"), int(port)
        self._keep = keep
        self._sources = sources
        self._server: asyncio.Server | None = None
        self._task: asyncio.Task[None] | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self.heard_at = 0
        """When records came last, by our clock."""

    @property
    def is_listening(self) -> bool:
        return self._server is not None

    async def open(self) -> None:
        if not await self._bound():
            self._task = asyncio.create_task(self._bind_later())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._server is not None:
            self._server.close()
            self._server = None
        for each in self._serving:
            each.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _bound(self) -> bool:
        try:
            self._server = await asyncio.start_server(self._accept, self._host, self._port, limit=MAX_HEAD)
        except OSError as error:
            log.info("Another process listens at %s:%s for Camunda's records: %s", self._host, self._port, error)
            return False
        return True

    async def _bind_later(self) -> None:
        while not await self._bound():
            await self._sources.sleep(REBIND)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (head := await _head(reader)) is not None:
                method, path, headers = head
                if headers.get("expect", "").lower() == "100-continue":
                    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                body = await _body(reader, headers)
                status, answer = await self._answer(method, path, body)
                writer.write(_response(status, b"" if method == "HEAD" else msgspec.json.encode(answer)))
                await writer.drain()
                if headers.get("connection", "").lower() == "close":
                    break
        except (ConnectionError, asyncio.IncompleteReadError, ValueError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    async def _answer(self, method: str, path: str, body: bytes) -> tuple[int, object]:
        if method == "POST" and path.partition("?")[0].endswith("/_bulk"):
            try:
                await self._keep(body)
            except PerdureError as error:
                log.warning("Camunda's records cannot be kept, and are sent again: %s", error)
                return 503, {"error": {"type": "unavailable", "reason": str(error)}, "status": 503}
            self.heard_at = self._sources.now()
            items = [{"index": {"status": 201}}] * actions_of(body)
            return 200, {"took": 1, "errors": False, "items": items}
        if method == "GET" and path.partition("?")[0] == "/":
            return 200, VERSION
        return 200, {"acknowledged": True}


async def _head(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str]] | None:
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = raw.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    return method, path, headers


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    """All of it, before anything is answered; chunked or counted."""
    if "chunked" not in headers.get("transfer-encoding", "").lower():
        length = int(headers.get("content-length", "0"))
        if not 0 <= length <= MAX_BODY:
            raise ValueError("a body of that length is not read")
        return await reader.readexactly(length)
    parts: list[bytes] = []
    size = 0
    while True:
        line = await reader.readuntil(b"\r\n")
        count = int(line.split(b";")[0], 16)
        size += count
        if size > MAX_BODY:
            raise ValueError("a body of that length is not read")
        part = await reader.readexactly(count + 2)
        if count == 0:
            return b"".join(parts)
        parts.append(part[:-2])


def _response(status: int, body: bytes) -> bytes:
    reason = "OK" if status == 200 else "Service Unavailable"
    head = (
        f"HTTP/1.1 {status} {reason}\r\nContent-Type: application/json\r\nX-Elastic-Product: Elasticsearch\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
