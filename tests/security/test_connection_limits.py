"""Oversize and slow heads: whoever sends one is let go of, and everybody else is answered meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from perdure.surfaces.http import connection_limits
from tests.surfaces.http.in_process_server import Served, served

pytestmark = pytest.mark.req("P2")


@asynccontextmanager
async def connected(server: Served) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(server.base.rpartition(":")[2]))
    try:
        yield reader, writer
    finally:
        writer.close()


async def is_let_go(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read(1) == b""
    except ConnectionError:
        return True


async def test_a_head_without_an_end_is_given_up() -> None:
    async with served(on_socket=True) as found, connected(found) as (reader, writer):
        writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        with pytest.raises(ConnectionError):
            for _ in range(10_000):
                writer.write(b"x" * 65_536)
                await writer.drain()
        assert await is_let_go(reader)
        async with found.client() as client:
            assert (await client.get("/health")).status_code == 200


@pytest.mark.parametrize("begun", [b"", b"GET /health HTTP/1.1\r\nX-"])
async def test_a_head_that_does_not_come_is_given_up(monkeypatch: pytest.MonkeyPatch, begun: bytes) -> None:
    monkeypatch.setattr(connection_limits, "HEAD_SECONDS", 0.05)
    async with served(on_socket=True) as found, connected(found) as (reader, writer):
        writer.write(begun)
        assert await is_let_go(reader)


async def test_one_connection_asks_often_and_at_length() -> None:
    async with served(on_socket=True) as found, connected(found) as (reader, writer):
        for _ in range(5):
            writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 30_000 + b"\r\n\r\n")
            assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 200")


async def test_what_the_api_answers_is_kept_by_nobody_however_it_is_asked() -> None:
    async with served(on_socket=True) as found, connected(found) as (reader, writer):
        writer.write(b"GET //api/verbs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert b"cache-control: no-store" in await reader.read()
