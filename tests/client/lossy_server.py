"""A server on a loopback socket that can be brought back, and a proxy before it that loses connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from perdure.client import AsyncClient
from tests.surfaces.http.in_process_server import Served, served

Loses = Callable[[bytes], str]
"""Given what was asked: nothing, `before` the server hears of it, or `after` it has answered."""


class Proxy:
    """Hands bytes on to a server; `lose` says which connections it drops, each time it is asked."""

    def __init__(self) -> None:
        self.target = ("127.0.0.1", 0)
        self.lose: list[str] = []
        self.asked: list[bytes] = []
        self._open: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.url = ""

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        await self._server.wait_closed()

    def aim(self, base: str) -> None:
        """Where connections lead from now on."""
        self.target = ("127.0.0.1", int(base.rpartition(":")[2]))

    def cut(self) -> None:
        """Every connection that is open ends now."""
        for each in list(self._open):
            each.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            there, back = await asyncio.open_connection(*self.target)
        except OSError:
            writer.transport.abort()
            return
        self._open.add(back)
        answering = asyncio.ensure_future(self._answers(there, writer))
        try:
            while chunk := await reader.read(65536):
                self.asked.append(chunk)
                if self.lose and self.lose[0] == "before":
                    self.lose.pop(0)
                    break
                back.write(chunk)
        except OSError:
            pass
        finally:
            back.transport.abort()
            writer.transport.abort()
            await asyncio.gather(answering, return_exceptions=True)
            self._open -= {writer, back}

    async def _answers(self, there: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await there.read(65536):
            if self.lose and self.lose[0] == "after":
                self.lose.pop(0)
                writer.transport.abort()
                return
            writer.write(chunk)
        writer.transport.abort()


class House:
    """A server behind a proxy, and clients that know only the proxy."""

    def __init__(self, store_url: str, proxy: Proxy, **settings: Any) -> None:
        self._store_url, self._settings = store_url, settings
        self.proxy = proxy
        self.served: Served | None = None
        self._running: Any = None

    async def start(self) -> Served:
        """Serve the store, at a place of its own each time."""
        self._running = served(self._store_url, on_socket=True, **self._settings)
        self.served = await self._running.__aenter__()
        self.proxy.aim(self.served.base)
        return self.served

    async def stop(self) -> None:
        if self._running is not None:
            running, self._running = self._running, None
            await running.__aexit__(None, None, None)

    async def key(self, *roles: Any, **more: Any) -> str:
        assert self.served is not None
        return (await self.served.key(*roles, **more)).text

    def client(self, key: str, **more: Any) -> AsyncClient:
        return AsyncClient(self.proxy.url, key, **more)


@asynccontextmanager
async def housed(store_url: str, **settings: Any) -> AsyncIterator[House]:
    """A running server with a proxy before it."""
    proxy = Proxy()
    await proxy.start()
    house = House(store_url, proxy, **settings)
    await house.start()
    try:
        yield house
    finally:
        await house.stop()
        await proxy.stop()
