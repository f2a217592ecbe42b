"""The house that attacks are played against: a real server over the project `house`, two tenants, a dozen keys.

| tenant | key | is |
|---|---|---|
| default | `ada` | a person, admin |
| | `olga`, `anne`, `vera` | people: operator, author, viewer |
| | `rita`, `otto` | reviewers of the groups `reviewers` and `risk` |
| | `robot` | a service, operator and author |
| | `agent:bot` | an agent, operator, author and reviewer, in the group `reviewers` |
| | `pub` | a person, operator and author of the verbs `pub.*` alone |
| south | `eve`, `agent:spy` | a person who is admin there, and an agent |
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import msgspec

from tests.acceptance.browser.server import Server

PROJECT = Path(__file__).resolve().parent / "house"
HERE, SOUTH = "default", "south"


class Key(msgspec.Struct, frozen=True):
    """A key as its maker asks for it."""

    roles: tuple[str, ...]
    kind: str = "person"
    groups: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ("*",)
    tenant: str = HERE


KEYS = {
    "ada": Key(("admin",), groups=("administrators", "reviewers", "risk")),
    "olga": Key(("operator",)),
    "anne": Key(("author",)),
    "vera": Key(("viewer",)),
    "rita": Key(("reviewer",), groups=("reviewers",)),
    "otto": Key(("reviewer",), groups=("risk",)),
    "robot": Key(("operator", "author"), "service"),
    "agent:bot": Key(("operator", "author", "reviewer"), "agent", ("reviewers",)),
    "pub": Key(("operator", "author"), verbs=("pub.*",)),
    "eve": Key(("admin",), groups=("administrators", "reviewers", "risk"), tenant=SOUTH),
    "agent:spy": Key(("operator", "author", "reviewer"), "agent", ("reviewers",), tenant=SOUTH),
}
ADMINISTRATORS = {HERE: "ada", SOUTH: "eve"}


class Caller:
    """One key at the door. Every answer has the status that the test expects."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        self._client = httpx.Client(base_url=url, timeout=60, headers=headers)

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        return _read(self._client.get(f"/api{path}", params=query), status)

    def post(self, path: str, body: Any = None, status: int = 200, **headers: str) -> Any:
        return _read(self._client.post(f"/api{path}", json=body if body is not None else {}, headers=headers), status)

    def close(self) -> None:
        self._client.close()


def _read(answer: httpx.Response, status: int) -> Any:
    assert answer.status_code == status, f"{answer.request.url}: {answer.status_code} {answer.text[:2000]}"
    return answer.json() if answer.content else None


class AttackedHouse:
    """The server, callers by the names of their keys, and what verbs have really done."""

    def __init__(self, folder: Path, store: str, settings: str = "") -> None:
        self.server = Server(PROJECT, folder / "house", store, settings)
        self._texts = {name: self._made_at_the_machine(name) for name in ADMINISTRATORS.values()}
        self._callers: dict[str, Caller] = {}

    def _made_at_the_machine(self, name: str) -> str:
        key = KEYS[name]
        groups = [word for group in key.groups for word in ("--group", group)]
        told = self.server.run(
            "--json", "--tenant", key.tenant, "keys", "create", name, "--principal", name, "--kind", key.kind,
            "--role", key.roles[0], *groups,
        )  # fmt: skip
        return str(msgspec.json.decode(told)["text"])

    def caller(self, name: str) -> Caller:
        """Whoever has a key of that name; it is made when it is first asked for."""
        if name not in self._callers:
            if name not in self._texts:
                key = KEYS[name]
                body = {"name": name, "principal": name, **msgspec.to_builtins(key)}
                del body["tenant"]
                self._texts[name] = self.caller(ADMINISTRATORS[key.tenant]).post("/keys", body, 201)["text"]
            self._callers[name] = Caller(self.server.url, {"Authorization": f"Bearer {self._texts[name]}"})
        return self._callers[name]

    def key(self, name: str) -> str:
        """The text of a key."""
        self.caller(name)
        return self._texts[name]

    def holder(self, token: str) -> Caller:
        """Whoever was given the token of a wait."""
        self._callers[token] = Caller(self.server.url, {"Authorization": f"Wait {token}"})
        return self._callers[token]

    def done(self, verb: str) -> list[dict[str, Any]]:
        """The runs of a verb's handler, with tenant and arguments."""
        file = self.server.folder / f"{verb}.done"
        return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []

    def close(self) -> None:
        for each in self._callers.values():
            each.close()
        self.server.close()
