"""A server without `authentication`: everybody is the local person, and nobody once there is a key."""

from __future__ import annotations

import pytest

from tests.surfaces.http.in_process_server import served

pytestmark = pytest.mark.req("P3", "V36")


async def test_without_keys_everybody_is_the_person_at_the_machine() -> None:
    async with served(authentication=()) as server, server.client() as client:
        session = (await client.get("/api/session")).json()
        assert (session["principal"], session["authentication"]) == ("local", "none")


async def test_an_agent_that_leaves_its_key_out_is_nobody() -> None:
    async with served(authentication=()) as server, server.client() as client:
        key = await server.perdure.access.create_key(
            "bot", principal="agent:bot", kind="agent", roles=["operator", "author"]
        )
        shown = {"Authorization": f"Bearer {key.text}"}
        assert (await client.get("/api/session", headers=shown)).json()["principal"] == "agent:bot"
        for answer in (
            await client.get("/api/session"),
            await client.get("/api/runbooks"),
            await client.post("/api/drafts", json={"program": "(desk.note)"}),
            await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        ):
            assert answer.status_code == 401, answer.text
        assert (await client.get("/api/session")).json()["authentication"] == ["keys"]


async def test_people_sign_in_with_a_key_where_nothing_says_how() -> None:
    async with served(authentication=()) as server, server.client() as browser:
        key = await server.perdure.access.create_key("ana", principal="ana", kind="person", roles=["operator"])
        assert (await browser.post("/api/session", json={"key": key.text})).status_code == 201
        assert (await browser.get("/api/session")).json()["principal"] == "ana"


async def test_once_no_key_is_good_the_machine_has_its_person_again() -> None:
    async with served(authentication=()) as server, server.client() as client:
        key = await server.perdure.access.create_key("ci", principal="ci", roles=["viewer"])
        assert (await client.get("/api/session")).status_code == 401
        await server.perdure.access.revoke_key(key.id)
        assert (await client.get("/api/session")).json()["principal"] == "local"
