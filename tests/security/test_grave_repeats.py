"""Grave work under an idempotency key: one draft, however often it is asked for, and then the runbook it became."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surfaces.http.in_process_server import Served, served

pytestmark = [pytest.mark.req("P3", "V36"), pytest.mark.both_stores]
CALL = ("/api/verbs/vault.open/calls", {"args": {}})
RUNBOOK = ("/api/runbooks", {"program": "(vault.open)"})


async def asked(server: Served, agent: Any, path: str, body: dict[str, Any], key: str) -> Any:
    return await agent.post(path, json=body, headers={"Idempotency-Key": key})


@pytest.mark.parametrize(("path", "body"), [CALL, RUNBOOK], ids=["call", "runbook"])
async def test_asked_again_it_is_the_same_draft_and_then_its_runbook(
    store_url: str, path: str, body: dict[str, Any]
) -> None:
    async with served(store_url) as server:
        bot = await server.key("operator", "author", kind="agent", name="agent:bot")
        ana = await server.key("operator", name="ana")
        async with server.client(bot) as agent, server.client(ana) as person:
            first, second = [await asked(server, agent, path, body, "fjord-1") for _ in range(2)]
            assert (first.status_code, second.status_code) == (423, 423)
            assert first.json()["draft"] == second.json()["draft"] != ""
            other = await asked(server, agent, path, body, "fjord-2")
            assert other.json()["draft"] != first.json()["draft"]
            draft, confirm = first.json()["draft"], (await person.get(f"/api/drafts/{first.json()['draft']}")).json()
            begun = await person.post(
                f"/api/drafts/{draft}/start", json={"confirm": confirm["plan"]["plan_hash"], "wait": True}
            )
            assert begun.status_code == 200, begun.text
            third = await asked(server, agent, path, body, "fjord-1")
            assert third.status_code == 201, third.text
            assert (third.json()["id"], third.json()["state"]) == (draft, "completed")


async def test_a_key_that_was_used_for_something_else_is_refused(store_url: str) -> None:
    async with served(store_url) as server:
        bot = await server.key("operator", "author", kind="agent", name="agent:bot")
        async with server.client(bot) as agent:
            await asked(server, agent, *RUNBOOK, "k")
            other = await asked(server, agent, RUNBOOK[0], {"program": "(vault.open)\n(vault.open)"}, "k")
            assert (other.status_code, other.json()["code"]) == (422, "idempotency.reused")


@pytest.mark.parametrize(("path", "body"), [CALL, RUNBOOK], ids=["call", "runbook"])
async def test_a_confirmation_counts_once(store_url: str, path: str, body: dict[str, Any]) -> None:
    async with served(store_url) as server, server.client(await server.key("operator", name="ana")) as person:
        shown = (await person.post(path, json=body)).json()
        agreed = {**body, "confirm": shown["plan_hash"]}
        assert (await person.post(path, json=agreed)).status_code == 201
        refused = await person.post(path, json=agreed)
        assert refused.status_code == 423
        assert "has counted already" in refused.json()["detail"]
        anew = {**body, "confirm": refused.json()["plan_hash"]}
        assert anew["confirm"] != agreed["confirm"]
        assert (await person.post(path, json=anew)).status_code == 201
        assert (await person.post(path, json=anew)).status_code == 423


async def test_the_same_request_again_is_answered_again(store_url: str) -> None:
    async with served(store_url) as server, server.client(await server.key("operator", name="ana")) as person:
        shown = (await asked(server, person, *CALL, "once")).json()
        agreed = {**CALL[1], "confirm": shown["plan_hash"]}
        first, second = [await asked(server, person, CALL[0], agreed, "once") for _ in range(2)]
        assert (first.status_code, second.status_code) == (201, 201)
        assert first.json()["id"] == second.json()["id"]
        assert (await asked(server, person, CALL[0], agreed, "twice")).status_code == 423
