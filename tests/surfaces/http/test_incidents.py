"""Incidents over HTTP: tried again one by one, each authorised and answered by itself."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.bpmn.xml import write_model
from tests.engines.embedded.process_models import line, service
from tests.surfaces.http.sandbox_server import Server, person, served


async def stuck(server: Server, who: str = "ada", process: str = "p") -> str:
    """The id of an instance that an incident stopped."""
    desk = server.of(who)
    xml = write_model(line(process, service("broken", "t.contract")))
    await desk.post("/api/processes", {"xml": xml, "profile": "open"}, 201)
    view = await desk.post("/api/instances", {"process": process}, 201)
    await server.idle()
    return str(view["id"])


@pytest.mark.req("P2", "P3")
async def test_many_are_tried_again_and_each_is_authorised_and_answered_by_itself(store_url: str) -> None:
    people = [person("tess", "operator", verbs=("t.contract",))]
    async with served(store_url, people=people) as server:
        ours, carried, theirs = await stuck(server), await stuck(server, process="carried"), await stuck(server, "eve")
        call = await server.of("ada").post("/api/verbs/t.contract/calls", {"args": {}}, 201)
        assert call["waiting_for"]["kind"] == "incident"
        server.handlers.is_broken = False
        number = (await server.of("ada").get(f"/api/instances/{ours}"))["incidents"][0]["token"]
        ids = [f"{ours}:{number}", carried, theirs, "nonsense", call["id"], f"{ours}:x"]
        told = await server.of("tess").post("/api/incidents/retry", {"ids": ids})
        assert [each["id"] for each in told["items"]] == ids
        assert [each["status"] for each in told["items"]] == [200, 403, 404, 404, 200, 404]
        assert [each["problem"] is None for each in told["items"]] == [True, False, False, False, True, False]
        await server.idle()
        states = {id: (await server.of("ada").get(f"/api/instances/{id}"))["state"] for id in (ours, carried)}
        assert states == {ours: "completed", carried: "active"}
        assert (await server.of("ada").get(f"/api/calls/{call['id']}"))["state"] == "completed"
        assert (await server.of("eve").get(f"/api/instances/{theirs}"))["state"] == "active"
        twice = await server.of("ada").post("/api/incidents/retry", {"ids": [ours, carried]})
        assert [each["status"] for each in twice["items"]] == [409, 200]
        foreign, missing = told["items"][2]["problem"], await _one(server, "0" * 26)
        assert foreign["detail"].replace(theirs, "0" * 26) == missing["detail"]


@pytest.mark.req("P2")
async def test_a_step_of_a_runbook_is_tried_again_by_its_number(store_url: str) -> None:
    async with served(store_url) as server:
        ada = server.of("ada")
        begun = await ada.post("/api/runbooks", {"program": "(t.contract) (t.one)"}, 201)
        await server.idle()
        server.handlers.is_broken = False
        told = await ada.post("/api/incidents/retry", {"ids": [f"{begun['id']}:1"]})
        assert [each["status"] for each in told["items"]] == [200], told
        await server.idle()
        assert (await ada.get(f"/api/runbooks/{begun['id']}"))["state"] == "completed"


@pytest.mark.req("P2")
@pytest.mark.parametrize("ids", [[], ["x"] * 201, [1], None])
async def test_bulk_has_bounds(ids: Any) -> None:
    async with served() as server:
        assert (await server.of("ada").post("/api/incidents/retry", {"ids": ids}, 422))["code"] == "request.invalid"
        await server.of("sue").post("/api/incidents/retry", {"ids": ["x"]}, 403)


async def _one(server: Server, id: str) -> dict[str, Any]:
    told = await server.of("tess").post("/api/incidents/retry", {"ids": [id]})
    problem: dict[str, Any] = told["items"][0]["problem"]
    return problem
