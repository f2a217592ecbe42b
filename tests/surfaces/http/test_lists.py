"""Lists over HTTP: every one in pages that join without gap or repeat, of one tenant alone."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.bpmn.model import Value
from perdure.bpmn.xml import write_model
from tests.engines.embedded.process_models import line, service, user
from tests.surfaces.http.sandbox_server import Desk, Server, served

LISTS = {
    "/api/instances": "id", "/api/tasks": "key", "/api/parked": "key", "/api/incidents": "id",
    "/api/dead-letters": "message_id",
}  # fmt: skip


async def filled(server: Server, who: str, count: int = 3) -> None:
    """Some of everything that lists hold."""
    desk = server.of(who)
    model = line("p", user("review", groups=Value("seniors")))
    stuck = line("q", service("broken", "t.contract"))
    for each in (model, stuck):
        await desk.post("/api/processes", {"xml": write_model(each), "profile": "open"}, 201)
    for number in range(count):
        await desk.post("/api/instances", {"process": "p", "business_key": f"{who}-{number}"}, 201)
        await desk.post("/api/instances", {"process": "q"}, 201)
        await desk.post("/api/verbs/w.ask/calls", {"args": {"case": f"{who}-{number}"}}, 201)
        lost = {"key": f"{who}-lost-{number}", "message_id": f"{who}-{number}", "result": {}}
        await desk.post("/api/completions", lost, 404)
    await server.idle()


async def all_of(desk: Desk, path: str, limit: int, **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after: dict[str, Any] = {}
    while True:
        page = await desk.get(path, limit=limit, **after, **query)
        assert len(page["items"]) <= limit
        found += page["items"]
        if page["next"] is None:
            return found
        after = {"after": page["next"]}


@pytest.mark.req("P2", "V31")
async def test_every_list_comes_in_pages_of_its_own_tenant(store_url: str) -> None:
    async with served(store_url) as server:
        await filled(server, "ada")
        await filled(server, "eve", 2)
        for path, name in LISTS.items():
            ours = await all_of(server.of("vera"), path, 200)
            theirs = await all_of(server.of("eve"), path, 200)
            assert ours and theirs, path
            assert not {each[name] for each in ours} & {each[name] for each in theirs}, path
            assert len(ours) * 2 == len(theirs) * 3, path
            for limit in (1, 2):
                assert await all_of(server.of("vera"), path, limit) == ours, path
            cursor = (await server.of("eve").get(path, limit=1))["next"]
            assert (await server.of("vera").get(path, 422, after=cursor))["code"] == "command.invalid", path
            for wrong in (0, 201, "x"):
                assert (await server.of("vera").get(path, 422, limit=wrong))["code"] == "request.invalid", path


@pytest.mark.req("P2")
async def test_instances_are_found_by_process_state_and_business_key(store_url: str) -> None:
    async with served(store_url) as server:
        await filled(server, "ada")
        vera = server.of("vera")
        assert {each["process"] for each in await all_of(vera, "/api/instances", 2, process="p")} == {"p"}
        (one,) = await all_of(vera, "/api/instances", 2, business_key="ada-1")
        await server.of("ada").post(f"/api/instances/{one['id']}/suspend")
        assert [each["id"] for each in await all_of(vera, "/api/instances", 2, state="suspended")] == [one["id"]]
        assert await all_of(vera, "/api/instances", 2, process="nothing") == []


@pytest.mark.req("V20", "P2")
async def test_the_inbox_shows_what_is_mine_and_my_groups(store_url: str) -> None:
    async with served(store_url) as server:
        await filled(server, "ada")
        assert len(await all_of(server.of("sue"), "/api/tasks", 2, mine=True)) == 3
        assert await all_of(server.of("olga"), "/api/tasks", 2, mine=True) == []
        assert len(await all_of(server.of("olga"), "/api/tasks", 2, group="seniors")) == 3
        first = (await server.of("sue").get("/api/tasks", mine=True))["items"][0]["key"]
        await server.of("sue").post(f"/api/tasks/{first}/claim")
        assert [each["key"] for each in await all_of(server.of("sue"), "/api/tasks", 2, state="claimed")] == [first]
        assert len(await all_of(server.of("rico"), "/api/tasks", 2, mine=True)) == 2
        assert len(await all_of(server.of("rico"), "/api/tasks", 2, unclaimed=True)) == 2


@pytest.mark.req("P2")
async def test_incidents_tell_their_cause_and_the_actions_of_who_asks(store_url: str) -> None:
    async with served(store_url) as server:
        await filled(server, "ada", 1)
        await server.of("ada").post("/api/verbs/t.contract/calls", {"args": {}}, 201)
        begun = await server.of("ada").post("/api/runbooks", {"program": "(t.contract) (t.one)"}, 201)
        await server.idle()
        found = await all_of(server.of("ada"), "/api/incidents", 1)
        acts = {each["kind"]: [action["act"] for action in each["actions"]] for each in found}
        assert acts == {
            "instance": ["retry", "resolve", "modify", "migrate", "cancel"],
            "call": ["retry", "resolve", "cancel"],
            "runbook": ["retry", "skip", "cancel", "compensate"],
        }
        assert all(each["cause"] and each["code"] for each in found)
        (step,) = [each for each in found if each["kind"] == "runbook"]
        assert (step["id"], step["place"], step["verbs"]) == (begun["id"], 1, ["t.contract"])
        assert all(each["actions"] == [] for each in await all_of(server.of("vera"), "/api/incidents", 5))
        server.handlers.is_broken = False
        for each in found:
            retry = next(action for action in each["actions"] if action["act"] == "retry")
            await server.of("ada").post(retry["path"])
        await server.idle()
        assert await all_of(server.of("ada"), "/api/incidents", 5) == []
