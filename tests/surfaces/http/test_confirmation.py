"""What is grave starts only when a person has agreed to that very plan."""

from __future__ import annotations

import pytest

from tests.surfaces.http.in_process_server import served

pytestmark = pytest.mark.req("P3")
OPEN = {"calls": [{"verb": "vault.open", "name": "opened"}]}
EMPTY = {"calls": [{"verb": "vault.empty"}]}


async def test_a_person_confirms_the_hash_of_the_plan() -> None:
    async with served() as found, found.client(await found.key("operator")) as client:
        for path, body in (("/api/runbooks", OPEN), ("/api/verbs/vault.open/calls", {"args": {}})):
            refused = await client.post(path, json=body)
            told = refused.json()
            assert (refused.status_code, told["code"]) == (423, "confirmation.required"), told
            assert told["tier"] == "requires_confirmation" and told["sentences"] == ["Open the vault"]
            assert (await client.post(path, json={**body, "confirm": "sha256:" + "0" * 64})).status_code == 423
            assert (await client.post(path, json={**body, "confirm": told["plan_hash"]})).status_code == 201


async def test_the_gravest_asks_for_its_phrase_as_well() -> None:
    async with served() as found, found.client(await found.key("operator")) as client:
        told = (await client.post("/api/runbooks", json=EMPTY)).json()
        body = {**EMPTY, "confirm": told["plan_hash"]}
        assert (await client.post("/api/runbooks", json=body)).status_code == 423
        assert (await client.post("/api/runbooks", json={**body, "phrase": "yes"})).status_code == 423
        assert (await client.post("/api/runbooks", json={**body, "phrase": told["phrase"]})).status_code == 201


async def test_an_agent_cannot_confirm_itself_and_a_person_starts_its_draft() -> None:
    async with served() as found:
        agent, person = await found.key("operator", kind="agent"), await found.key("operator")
        async with found.client(agent) as asking, found.client(person) as deciding:
            told = (await asking.post("/api/runbooks", json=OPEN)).json()
            again = await asking.post("/api/runbooks", json={**OPEN, "confirm": told["plan_hash"]})
            assert again.status_code == 423 and told["draft"]
            start = f"/api/drafts/{told['draft']}/start"
            own = await asking.post(start, json={"confirm": told["plan_hash"]})
            assert own.status_code == 423
            plan = (await deciding.get(f"/api/drafts/{told['draft']}")).json()["plan"]
            begun = await deciding.post(start, json={"confirm": plan["plan_hash"], "wait": True})
            assert begun.status_code == 200 and begun.json()["state"] == "completed", begun.text


async def test_adding_a_grave_step_to_a_mild_runbook_is_confirmed_as_well() -> None:
    async with served() as found, found.client(await found.key("operator")) as client:
        mild = {"calls": [{"verb": "desk.note", "args": {"text": "x"}}], "sealed": False}
        path = (await client.post("/api/runbooks", json=mild)).headers["location"]
        told = await client.post(f"{path}/extend", json=OPEN)
        assert told.status_code == 423
        added = await client.post(f"{path}/extend", json={**OPEN, "confirm": told.json()["plan_hash"]})
        assert added.status_code == 200, added.text
        more = {"calls": [{"verb": "desk.note", "args": {"text": "y"}}]}
        assert (await client.post(f"{path}/extend", json=more)).status_code == 200


async def test_what_would_be_added_is_shown_with_what_has_to_be_agreed_to() -> None:
    async with served() as found, found.client(await found.key("operator")) as client:
        mild = {"calls": [{"verb": "desk.note", "args": {"text": "x"}, "name": "noted"}], "sealed": False}
        path = (await client.post("/api/runbooks", json={**mild, "wait": True})).headers["location"]
        version = (await client.get(path)).headers["etag"]
        again = {"calls": [{"verb": "desk.note", "args": {"text": {"@": "noted.noted"}}, "name": "again"}]}
        plan = (await client.post(f"{path}/extend/plan", json=again)).json()
        assert ([each["name"] for each in plan["steps"]], plan["waves"]) == (["again"], [["again"]])
        assert (plan["steps"][0]["number"], plan["tier"], plan["phrase"]) == (2, "benign", "")
        grave = (await client.post(f"{path}/extend/plan", json=EMPTY)).json()
        assert (grave["tier"], grave["phrase"]) == ("requires_authorisation", "authorise 2 steps")
        assert (await client.get(path)).headers["etag"] == version
        agreed = {**EMPTY, "confirm": grave["plan_hash"]}
        assert (await client.post(f"{path}/extend", json=agreed)).status_code == 423
        grown = await client.post(f"{path}/extend", json={**agreed, "phrase": grave["phrase"]})
        assert grown.status_code == 200 and len(grown.json()["steps"]) == 2, grown.text


async def test_what_is_wrong_with_an_extension_is_told_and_a_plan_of_none_is_refused() -> None:
    async with served() as found, found.client(await found.key("operator")) as client:
        mild = {"calls": [{"verb": "desk.note", "args": {"text": "x"}}], "sealed": False}
        path = (await client.post("/api/runbooks", json=mild)).headers["location"]
        odd = await client.post(f"{path}/extend/plan", json={"calls": [{"verb": "desk.nosuch"}]})
        assert odd.status_code == 422 and odd.json()["errors"]
        draft = (await client.post("/api/drafts", json={"calls": mild["calls"]})).json()["id"]
        refused = await client.post(f"/api/runbooks/{draft}/extend/plan", json=OPEN)
        assert refused.status_code == 409, refused.text


async def test_a_plan_names_the_phrase_it_wants() -> None:
    async with served() as found, found.client(await found.key("operator")) as client:
        plans = [(await client.post("/api/runbooks/plan", json=body)).json() for body in (OPEN, EMPTY)]
        assert [each["phrase"] for each in plans] == ["", "authorise 1 step"]


async def test_every_step_of_a_plan_is_authorised_by_itself() -> None:
    async with served() as found, found.client(await found.key("operator", verbs=("desk.*",))) as client:
        both = {"calls": [{"verb": "desk.note", "args": {"text": "x"}}, {"verb": "vault.open"}]}
        refused = await client.post("/api/runbooks", json=both)
        assert (refused.status_code, refused.json()["code"]) == (403, "access.forbidden")
        assert (await client.post("/api/verbs/vault.open/calls", json={})).status_code == 403
        assert (await client.post("/api/verbs/desk.note/calls", json={"args": {"text": "x"}})).status_code == 201
