"""Instances over HTTP: begun, looked at as they are and as they were, and acted upon."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.bpmn.xml import write_model
from tests.engines.embedded.process_models import line, service, user
from tests.surfaces.http.sandbox_server import Desk, Server, served


async def deployed(server: Server, *nodes: Any, process: str = "p", by: str = "ada") -> dict[str, Any]:
    xml = write_model(line(process, *nodes))
    told: dict[str, Any] = await server.of(by).post("/api/processes", {"xml": xml, "profile": "open"}, 201)
    return told


async def begun(server: Server, desk: Desk, process: str = "p", **more: Any) -> dict[str, Any]:
    view: dict[str, Any] = await desk.post("/api/instances", {"process": process, **more}, 201)
    await server.idle()
    return view


@pytest.mark.req("P2")
async def test_an_instance_begins_once_under_a_key_and_is_shown_with_its_tag(store_url: str) -> None:
    async with served(store_url) as server:
        ada = server.of("ada")
        await deployed(server, service("a", "t.one"), user("review"))
        body, key = {"process": "p", "data": {"x": 1}, "business_key": "case-7"}, {"Idempotency-Key": "k-1"}
        first = await ada.post("/api/instances", body, 201, headers=key)
        again = await ada.post("/api/instances", body, 201, headers=key)
        assert first["id"] == again["id"]
        clash = await ada.post("/api/instances", {"process": "p"}, 422, headers=key)
        assert clash["code"] == "idempotency.reused"
        await server.idle()
        answer = await ada.ask("GET", f"/api/instances/{first['id']}")
        view = answer.json()
        assert answer.headers["etag"] == f'"{view["sequence"]}"'
        assert (view["state"], view["data"], view["business_key"]) == ("active", {"x": 1, "t_one": 1}, "case-7")
        assert [token["element"] for token in view["tokens"]] == ["review"]


@pytest.mark.req("P2", "P4")
async def test_the_slider_shows_state_data_and_way_as_of_every_record(store_url: str) -> None:
    async with served(store_url) as server:
        ada = server.of("ada")
        await deployed(server, service("a", "t.one"), user("review"), service("b", "t.two"))
        id = (await begun(server, ada))["id"]
        now = await ada.get(f"/api/instances/{id}/diagram")
        assert now["marks"]["tokens"] == [{"element": "review", "count": 1}]
        assert now["marks"]["path"] == ["start", "a", "review"]
        assert now["marks"]["flows"] == ["start-a", "a-review"]
        assert now["at"] == now["last"] and 'id="review"' in now["xml"]
        seen = [await ada.get(f"/api/instances/{id}/diagram", at=at, xml=False) for at in range(1, now["last"] + 1)]
        assert [each["at"] for each in seen] == list(range(1, now["last"] + 1))
        assert seen[0]["marks"]["tokens"] == [{"element": "a", "count": 1}] and seen[0]["xml"] == ""
        assert seen[0]["marks"]["flows"] == ["start-a"]
        past = await ada.get(f"/api/instances/{id}", at=1)
        assert (past["data"], past["sequence"], past["completed"]) == ({}, 1, [])
        (task,) = [token for token in (await ada.get(f"/api/instances/{id}"))["tokens"] if token["kind"] == "task"]
        await ada.post(f"/api/tasks/{id}:{task['number']}/complete", {"data": {"ok": True}})
        await server.idle()
        end = await ada.get(f"/api/instances/{id}/diagram")
        assert (end["state"], end["marks"]["tokens"]) == ("completed", [])
        assert end["marks"]["path"] == ["start", "a", "review", "b", "end"]
        assert (await ada.get(f"/api/instances/{id}", at=now["last"]))["tokens"][0]["element"] == "review"
        beyond = await ada.get(f"/api/instances/{id}/diagram", 404, at=end["last"] + 1)
        assert beyond["code"] == "command.not_found"


@pytest.mark.req("P2")
async def test_the_journal_of_an_instance_comes_in_pages_without_gap_or_repeat(store_url: str) -> None:
    async with served(store_url) as server:
        ada = server.of("ada")
        await deployed(server, service("a", "t.one"), user("review"))
        id = (await begun(server, ada))["id"]
        whole = (await ada.get(f"/api/instances/{id}/events", limit=200))["items"]
        for limit in (1, 2, 3):
            found, after = [], None
            while True:
                page = await ada.get(f"/api/instances/{id}/events", limit=limit, **({"after": after} if after else {}))
                assert len(page["items"]) >= limit or page["next"] is None
                found += page["items"]
                if (after := page["next"]) is None:
                    break
            assert found == whole
        stray = await ada.get(f"/api/instances/{id}/events", 422, after="nonsense")
        assert stray["code"] == "command.invalid"


@pytest.mark.req("P2")
async def test_every_act_on_an_instance_does_what_it_says(store_url: str) -> None:
    async with served(store_url) as server:
        ada = server.of("ada")
        await deployed(server, service("broken", "t.contract"), user("review"))
        id = (await begun(server, ada))["id"]
        path = f"/api/instances/{id}"
        assert [each["element"] for each in (await ada.get(path))["incidents"]] == ["broken"]
        assert (await ada.post(f"{path}/suspend", {"reason": "wait"}))["state"] == "suspended"
        assert (await ada.post(f"{path}/resume", {"shift_timers": True}))["state"] == "active"
        await ada.post(f"{path}/retry", {"reason": "again"})
        await server.idle()
        assert server.handlers.runs["t.contract"] == 2
        resolved = await ada.post(f"{path}/resolve", {"data": {"ok": True}, "reason": "by hand"})
        assert [each["element"] for each in resolved["tokens"]] == ["review"]
        token = resolved["tokens"][0]["number"]
        moved = await ada.post(f"{path}/modify", {"cancel": [token], "start": ["broken"], "reason": "back"})
        assert [each["element"] for each in moved["tokens"]] == ["broken"]
        await deployed(server, service("broken", "t.contract"), user("review"), service("after", "t.one"))
        plan = await ada.post(f"{path}/migrate", {"dry_run": True})
        assert (plan["version"], plan["is_dry"]) == (2, True)
        assert (await ada.post(f"{path}/migrate", {"reason": "newer"}))["is_dry"] is False
        assert (await ada.post(f"{path}/migrate-back"))["version"] == 1
        assert (await ada.post(f"{path}/cancel", {"reason": "enough"}))["state"] == "cancelled"
        erased = await ada.post(f"{path}/erase", {"reason": "asked to"})
        assert (erased["data"], bool(erased["erased_at"])) == (None, True)
        assert (await ada.get(path, at=1))["data"] is None, "what was erased is not shown in the past either"


@pytest.mark.req("P2")
async def test_an_act_upon_another_state_than_the_one_seen_is_refused(store_url: str) -> None:
    async with served(store_url) as server:
        ada = server.of("ada")
        await deployed(server, user("review"))
        view = await begun(server, ada)
        path = f"/api/instances/{view['id']}"
        await ada.post(f"{path}/suspend")
        stale = await ada.post(f"{path}/resume", status=412, headers={"If-Match": f'"{view["sequence"]}"'})
        assert stale["code"] == "request.stale"
        fresh = (await ada.ask("GET", path)).headers["etag"]
        assert (await ada.post(f"{path}/resume", headers={"If-Match": fresh}))["state"] == "active"


@pytest.mark.req("P2", "P3")
async def test_data_of_a_verb_that_a_key_does_not_reach_are_not_shown_and_it_acts_on_nothing(store_url: str) -> None:
    async with served(store_url) as server:
        await deployed(server, service("a", "t.one"), user("review"), process="carried")
        ada, narrow = server.of("ada"), server.of("narrow")
        view = await begun(server, ada, "carried", data={"given": 7})
        assert view["verb"] == "t.carried"
        path = f"/api/instances/{view['id']}"
        assert (await ada.get(path))["data"] == {"given": 7, "t_one": 1}
        hidden = await narrow.get(path)
        assert (hidden["data"], hidden["flags"], hidden["state"]) == (None, {}, "active")
        await narrow.get(f"{path}/events", 403)
        for act in ("suspend", "cancel", "retry", "migrate", "modify"):
            refused = await narrow.post(f"{path}/{act}", {}, 403)
            assert refused["code"] == "access.forbidden" and "t.carried" in refused["detail"]
        assert (await narrow.post("/api/instances", {"process": "carried"}, 403))["code"] == "access.forbidden"
        assert (await server.of("vera").post(f"{path}/suspend", {}, 403))["status"] == 403
        assert (await ada.get(path))["state"] == "active"
