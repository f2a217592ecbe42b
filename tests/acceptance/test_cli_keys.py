"""Keys from a terminal: shown once, listed without their text, revoked by one process and refused by another."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure import Perdure
from perdure.sources import SECOND, SystemSources
from tests.acceptance.commands import Shell

pytestmark = pytest.mark.req("P3", "P6")
UNKNOWN = "0" * 26


@pytest.fixture
def desk(tmp_path: Path, store_url: str) -> Shell:
    return Shell(tmp_path, store_url)


class Ahead(SystemSources):
    """A clock that a test sets ahead."""

    ahead = 0

    def now(self) -> int:
        return super().now() + self.ahead


async def test_a_key_is_shown_once_and_opens_until_another_process_revokes_it(desk: Shell, store_url: str) -> None:
    narrowed = ("--verbs", "kyc.*", "--operation", "verb.call", "--group", "night", "--expires", "P90D")
    roles = ("--role", "operator", "--role", "viewer")
    made = desk.run("keys", "create", "ci", "--principal", "builder", *roles, *narrowed)
    text = made.out.strip()
    assert made.out == f"{text}\n"
    assert "it is not shown again" in made.error
    [view] = desk.json("keys", "list")
    assert (view["name"], view["principal"], view["kind"], view["state"]) == ("ci", "builder", "service", "good")
    assert (view["roles"], view["groups"], view["verbs"]) == (["operator", "viewer"], ["night"], ["kyc.*"])
    assert view["created_by"] == "ana"
    assert text[-43:] not in desk.run("keys", "list").out + desk.run("keys", "list", "--json").out
    clock = Ahead()
    async with Perdure.open(store_url, role="reader", sources=clock) as server:
        found = await server.access.authenticate_key(text)
        assert found is not None
        assert (found.name, found.operations, found.via) == ("builder", ("verb.call",), f"key:{view['id']}")
        revoked = desk.json("keys", "revoke", view["id"], "--reason", "lost")
        assert (revoked["state"], revoked["revoked_by"], revoked["reason"]) == ("revoked", "ana", "lost")
        clock.ahead = SECOND
        assert await server.access.authenticate_key(text) is None
    assert "revoked" in desk.run("keys", "revoke", view["id"]).out
    assert "revoked" in desk.run("keys", "list").out
    assert desk.run("audit", "verify", code=0)


async def test_a_key_made_for_machines_is_one_json_value_and_works(desk: Shell, store_url: str) -> None:
    made = desk.json("keys", "create", "bot", "--principal", "agent:bot", "--kind", "agent", "--role", "author",
                     "--tenant", "acme")  # fmt: skip
    assert made["view"]["id"] == made["id"]
    assert desk.json("keys", "list") == []
    async with Perdure.open(store_url, role="reader") as server:
        found = await server.access.authenticate_key(made["text"])
        assert found is not None
        assert (found.tenant, found.name, found.kind) == ("acme", "agent:bot", "agent")
    assert desk.run("keys", "revoke", made["id"], code=3).error
    assert desk.json("keys", "revoke", made["id"], "--tenant", "acme")["state"] == "revoked"


MAKE = ("create", "x", "--principal", "x")
WRONG: dict[tuple[str, ...], tuple[int, str]] = {
    ("create", "x", "--role", "viewer"): (2, "nothing says whom it stands for"),
    MAKE: (2, "it has no role"),
    (*MAKE, "--role", "boss"): (2, "'boss' is no role"),
    (*MAKE, "--role", "viewer", "--kind", "cat"): (2, "no kind of principal"),
    (*MAKE, "--role", "admin", "--operation", "key.creat"): (2, "Did you mean 'key.create'"),
    (*MAKE, "--role", "viewer", "--expires", "soon"): (2, "not a duration"),
    ("create", "x", "--principal", "agent:x", "--role", "viewer"): (2, "name of an agent"),
    ("revoke", UNKNOWN): (3, "there is no such key"),
    ("revoke", "ci"): (3, "that is not an id"),
    ("create", "ci", "--principal", "ci", "--role", "viewer"): (4, "a good key has that name"),
}


def test_what_cannot_be_says_so_with_its_exit_code_and_changes_nothing(tmp_path: Path, sqlite_url: str) -> None:
    desk = Shell(tmp_path, sqlite_url)
    assert "There are no keys." in desk.run("keys", "list").out
    desk.run("keys", "create", "ci", "--principal", "other", "--role", "viewer")
    for words, (code, fact) in WRONG.items():
        assert fact in " ".join(desk.run("keys", *words, code=code).error.split())
    assert [view["principal"] for view in desk.json("keys", "list")] == ["other"]
