"""A real server on loopback with keys, and agents that come with them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from perdure.app import Perdure
from perdure.app.configuration.server import ServerConfig
from perdure.surfaces.http.application import make_app
from perdure.surfaces.http.server import listening
from tests.surfaces.mcp.protocol_agent import Agent, verbs

SECRET = b"a secret of at least thirty-two bytes"
ROLES = ("author", "operator", "reviewer")
HANDLERS: dict[str, Any] = {
    "desk.find": lambda call: {"id": "id of " + call.args["name"]},
    "desk.letter": lambda call: {},
    "desk.pay": lambda call: {},
    "desk.close": lambda call: {},
    "desk.break": lambda call: {},
    "desk.long": lambda call: {},
    "vault.open": lambda call: {"open": True},
}


class Served:
    """A server and its address."""

    def __init__(self, perdure: Perdure, url: str) -> None:
        self.perdure, self.url = perdure, url

    async def key(self, principal: str, *, tenant: str = "default", **more: Any) -> str:
        desk = self.perdure.acting(tenant=tenant).access
        asked: dict[str, Any] = {"kind": "agent", "roles": ROLES, **more}
        name = f"agent:{principal}" if asked["kind"] == "agent" else principal
        return (await desk.create_key(f"key of {principal}", principal=name, **asked)).text

    @asynccontextmanager
    async def agent(self, key: str, mode: str = "auto") -> AsyncIterator[Agent]:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        http = httpx2.AsyncClient(headers=headers, timeout=60)
        async with http, Client(streamable_http_client(self.url, http_client=http), mode=mode) as client:
            yield Agent(client)

    async def post(self, body: Any, **headers: str) -> httpx2.Response:
        """One request as it is."""
        accepted = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json", **headers}
        async with httpx2.AsyncClient(timeout=60) as http:
            if isinstance(body, bytes):
                return await http.post(self.url, content=body, headers=accepted)
            return await http.post(self.url, json=body, headers=accepted)


@asynccontextmanager
async def served(store_url: str, *, is_open: bool = False) -> AsyncIterator[Served]:
    """A server that asks for keys, or for nothing."""
    settings = ServerConfig() if is_open else ServerConfig(authentication=("keys",))
    async with Perdure.open(store_url, definitions=verbs(), handlers=HANDLERS) as perdure:
        app = make_app(perdure, settings, SECRET)
        config = uvicorn.Config(app, lifespan="off", log_level="warning", access_log=False)
        server = uvicorn.Server(config)
        with listening("127.0.0.1", 0) as place:
            running = asyncio.create_task(server._serve([place]))
            try:
                yield Served(perdure, f"http://127.0.0.1:{place.getsockname()[1]}/mcp")
            finally:
                server.should_exit = True
                await running
