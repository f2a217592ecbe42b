"""A server with people and agents who have keys at it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from perdure import Perdure
from perdure.access.principal import Kind
from perdure.app.configuration.server import ServerConfig
from perdure.surfaces.http.application import make_app

SECRET = b"0123456789abcdef0123456789abcdef"


class Office:
    """A server, and people with keys at it."""

    def __init__(self, perdure: Perdure) -> None:
        self.perdure = perdure
        self.app = make_app(perdure, ServerConfig(authentication=("keys",)), SECRET)

    async def key(self, name: str, kind: Kind = "person", **more: Any) -> str:
        """A key that was made at the machine."""
        roles = more.pop("roles", ["operator", "reviewer", "author"])
        made = await self.perdure.access.create_key(f"{name}'s", principal=name, kind=kind, roles=roles, **more)
        return made.text

    @asynccontextmanager
    async def client(self, credential: str) -> AsyncIterator[httpx.AsyncClient]:
        scheme = "Wait" if credential.startswith("wait_") else "Bearer"
        headers = {"Authorization": f"{scheme} {credential}"}
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client:
            yield client

    async def get(self, credential: str, path: str) -> httpx.Response:
        async with self.client(credential) as client:
            return await client.get(path)

    async def post(self, credential: str, path: str, **body: Any) -> httpx.Response:
        async with self.client(credential) as client:
            return await client.post(path, json=body)

    async def put(self, credential: str, path: str, **body: Any) -> httpx.Response:
        async with self.client(credential) as client:
            return await client.put(path, json=body)
