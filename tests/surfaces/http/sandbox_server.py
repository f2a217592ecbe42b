"""A server over a sandbox for tests of operations: principals by name, answers as plain values."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from perdure.access.principal import EVERY_VERB, Kind, Principal, Role
from perdure.app.configuration.server import ServerConfig
from perdure.surfaces.http.application import make_app
from perdure.testing import Sandbox
from perdure.verbs import load_text
from tests.engines.embedded.engine_world import VERBS, Handlers

SECRET = b"a secret of at least thirty-two bytes"
WAITS = """
- name: w.ask
  output_schema: {type: object, required: [answer], properties: {answer: {type: string}}}
  execution: {kind: durable, correlation: {key: $case}}
  input_schema: {type: object, required: [case], properties: {case: {type: string}}}
"""


def person(
    name: str, *roles: Role, tenant: str = "default", groups: tuple[str, ...] = (), verbs: tuple[str, ...] = EVERY_VERB,
    kind: Kind = "person", operations: tuple[str, ...] = (),
) -> Principal:  # fmt: skip
    return Principal(tenant, name, kind, frozenset(roles), groups, verbs, operations, via=f"key:{name}")


EVERYBODY = [
    person("ada", "operator", "author", "reviewer", "admin", groups=("administrators",)),
    person("rico", "operator", "author", "reviewer", groups=("seniors",)),
    person("sue", "reviewer", groups=("seniors",)),
    person("vera", "viewer"),
    person("olga", "operator"),
    person("narrow", "operator", "author", "reviewer", verbs=("w.*",)),
    person("eve", "operator", "author", "reviewer", "admin", tenant="other", groups=("seniors",)),
]


Credential = Callable[[], Awaitable[str]]


class Desk:
    """What one person sees of the server."""

    def __init__(self, client: httpx.AsyncClient, credential: Credential) -> None:
        self._client = client
        self._credential = credential

    async def get(self, path: str, status: int = 200, **query: Any) -> Any:
        return _read(await self.ask("GET", path, params=query), status)

    async def post(
        self, path: str, body: Any = None, status: int = 200, *, headers: Mapping[str, str] | None = None
    ) -> Any:
        more = {"json": body} if body is not None else {}
        return _read(await self.ask("POST", path, headers=dict(headers or {}), **more), status)

    async def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"Authorization": await self._credential(), **more.pop("headers", {})}
        return await self._client.request(method, path, headers=headers, **more)


def _read(answer: httpx.Response, status: int) -> Any:
    assert answer.status_code == status, f"{answer.status_code}: {answer.text[:2000]}"
    if answer.headers.get("content-type", "").startswith(("application/json", "application/problem+json")):
        return answer.json()
    return answer.text


class Server:
    """The sandbox behind, and desks by name."""

    def __init__(
        self, sandbox: Sandbox, handlers: Handlers, client: httpx.AsyncClient, people: list[Principal]
    ) -> None:
        self.sandbox, self.handlers, self._client = sandbox, handlers, client
        self._people = {each.name: each for each in people}
        self._keys: dict[str, str] = {}

    def of(self, name: str) -> Desk:
        async def credential() -> str:
            if name not in self._keys:
                self._keys[name] = await _key(self.sandbox, self._people[name])
            return f"Bearer {self._keys[name]}"

        return Desk(self._client, credential)

    def waiting(self, token: str) -> Desk:
        async def credential() -> str:
            return f"Wait {token}"

        return Desk(self._client, credential)

    async def idle(self) -> None:
        await self.sandbox.run_until_idle()


@asynccontextmanager
async def served(url: str = "sqlite://", verbs: str = VERBS + WAITS, **more: Any) -> AsyncIterator[Server]:
    """A server with the verbs of the engine's tests, and everybody."""
    catalogue = load_text(verbs)
    handlers = Handlers()
    people = [*EVERYBODY, *more.pop("people", [])]
    bound = {**handlers.bound(catalogue), **more.pop("handlers", {})}
    async with Sandbox.open(url, definitions=catalogue, handlers=bound, **more) as sandbox:
        edge = make_app(sandbox, ServerConfig(authentication=("keys",)), SECRET)
        transport = httpx.ASGITransport(app=edge)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield Server(sandbox, handlers, client, people)


async def _key(sandbox: Sandbox, who: Principal) -> str:
    made = await sandbox.acting(tenant=who.tenant).access.create_key(
        who.name, principal=who.name, kind=who.kind, roles=who.roles, groups=who.groups, verbs=who.verbs,
        operations=who.operations,
    )  # fmt: skip
    return made.text
