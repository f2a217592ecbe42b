"""A server for tests: the real application over a real store, asked in process or through a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn

from perdure import BusinessError
from perdure.access.principal import Kind, Role
from perdure.app import Perdure
from perdure.app.access.api_keys import NewKey
from perdure.app.configuration.server import ServerConfig
from perdure.surfaces.http.application import make_app
from perdure.surfaces.http.connection_limits import bounded_heads
from perdure.surfaces.http.middleware import Middleware
from perdure.surfaces.http.server import listening
from perdure.verbs import Catalogue, load_text

SECRET = b"0123456789abcdef0123456789abcdef"
DEFINITIONS = """
- name: desk.note
  description: Write a note down
  input_schema: {required: [text], properties: {text: {type: string}}}
  sentences: {step: ["Note {text}"]}
  index: [text]
  consequence: benign
  execution: {kind: sync, effects: none}
- name: desk.fail
  description: Always refuse
  consequence: benign
  execution: {kind: sync, effects: none}
- name: desk.stuck
  description: Break its word until somebody mends it
  output_schema: {required: [mended], properties: {mended: {type: boolean}}}
  consequence: benign
  execution: {kind: sync, effects: external}
- name: desk.wait
  description: Wait once
  input_schema: {properties: {who: {type: string}}}
  consequence: benign
  execution: {kind: durable, policy: {timeout: P1D}}
- name: vault.open
  description: Open the vault
  sentences: {step: ["Open the vault"]}
  consequence: requires_confirmation
  execution: {kind: sync, effects: none}
- name: vault.empty
  description: Empty the vault
  consequence: requires_authorisation
  execution: {kind: sync, effects: none}
"""


def catalogue() -> Catalogue:
    return load_text(DEFINITIONS)


def _fail(call: Any) -> Any:
    raise BusinessError("desk.refused", "the desk is closed")


HANDLERS = {
    "desk.note": lambda call: {"noted": call.args["text"]},
    "desk.fail": _fail,
    "desk.stuck": lambda call: {},
    "vault.open": lambda call: {"open": True},
    "vault.empty": lambda call: {"empty": True},
}


class Served:
    """A server of which tests ask things."""

    def __init__(self, perdure: Perdure, edge: Middleware, settings: ServerConfig) -> None:
        self.perdure, self.edge, self.settings = perdure, edge, settings
        self.base = "http://localhost"
        self.is_on_socket = False

    @property
    def state(self) -> Any:
        return self.edge._app.state  # type: ignore[attr-defined]

    async def key(
        self, *roles: Role, tenant: str = "default", name: str = "", kind: Kind = "person", **more: Any
    ) -> NewKey:
        """A key of a principal called after its roles."""
        who = name or f"{'agent:' if kind == 'agent' else ''}{'-'.join((*roles, kind))}"
        desk = self.perdure.acting(tenant=tenant, principal="root").access
        return await desk.create_key(f"{who} {len(await desk.keys())}", principal=who, roles=roles, kind=kind, **more)

    def client(self, key: NewKey | str = "", **headers: str) -> httpx.AsyncClient:
        """Somebody who asks, with a key."""
        text = key if isinstance(key, str) else key.text
        given = {**({"Authorization": f"Bearer {text}"} if text else {}), **headers}
        transport = None if self.is_on_socket else httpx.ASGITransport(self.edge)
        return httpx.AsyncClient(base_url=self.base, headers=given, transport=transport, timeout=30)


@asynccontextmanager
async def served(
    url: str = "sqlite://", *, authentication: Iterable[Any] = ("keys",), on_socket: bool = False, tokens: Any = None,
    sources: Any = None, papers: str = "", blobs: str = "", **settings: Any,
) -> AsyncIterator[Served]:  # fmt: skip
    """A running server; `authentication=()` is open to whoever reaches it. `papers` declare types of documents."""
    made = ServerConfig(authentication=tuple(authentication), **settings)
    declared = load_text(f"{papers}\nverbs:{DEFINITIONS}") if papers else catalogue()
    async with Perdure.open(url, definitions=declared, handlers=HANDLERS, sources=sources, blobs=blobs) as perdure:
        edge = make_app(perdure, made, SECRET, tokens=tokens)
        found = Served(perdure, edge, made)
        await perdure.runtime.recovered.wait()
        if not on_socket:
            yield found
            return
        async with _listening(found):
            yield found


@asynccontextmanager
async def _listening(served: Served) -> AsyncIterator[None]:
    with listening("127.0.0.1", 0) as place:
        config = uvicorn.Config(
            served.edge, http=bounded_heads(), lifespan="off", log_level="error", timeout_graceful_shutdown=5
        )
        server = uvicorn.Server(config)
        server.capture_signals = _nothing  # type: ignore[method-assign]
        running = asyncio.ensure_future(server.serve(sockets=[place]))
        served.base = f"http://127.0.0.1:{place.getsockname()[1]}"
        served.is_on_socket = True
        while not server.started:
            await asyncio.sleep(0)
        try:
            yield
        finally:
            served.edge.drain()
            server.should_exit = True
            await running


def _nothing() -> Any:
    from contextlib import nullcontext  # noqa: PLC0415

    return nullcontext()
