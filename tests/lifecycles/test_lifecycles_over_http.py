"""Lifecycles over HTTP: who may do what, and what another tenant or an agent never can."""

from __future__ import annotations

import pytest

from tests.surfaces.http.sandbox_server import person, served

LIFECYCLE = """
lifecycle: papers
states:
  OPEN:
    requirements:
      - type: field_present
        field: task_result:passport
        id: passport
        on_fail: {blocker: {type: MissingDocument, resolution: "(w.ask :case $subject)", expected: 2}}
  REVIEW:
  DONE: {terminal: true}
transitions:
  - {from: OPEN, to: REVIEW}
  - {from: REVIEW, to: DONE, manual: true, role: seniors, four_eyes: true}
"""
PEOPLE = [
    person("agent:bot", "operator", "reviewer", groups=("seniors",), kind="agent"),
    person("tina", "operator", verbs=("t.*",)),
]


@pytest.mark.req("T1")
@pytest.mark.req("T14")
async def test_a_client_comes_through_and_everybody_does_only_what_they_may(store_url: str) -> None:
    async with served(store_url, people=PEOPLE) as server:
        ada, sue, rico = server.of("ada"), server.of("sue"), server.of("rico")
        await ada.post("/api/lifecycle-definitions", {"yaml": LIFECYCLE}, 201)
        begun = await ada.post("/api/lifecycles", {"lifecycle": "papers", "subject": "c1"}, 201)
        id = begun["instance"]["id"]
        assert begun["instance"]["blockers"][0]["resolution"]["text"] == '(w.ask :case "c1")'
        for who in ("eve", "tina"):
            await server.of(who).get(f"/api/lifecycles/{id}", 404 if who == "eve" else 403)
            assert (await server.of(who).get("/api/lifecycles"))["items"] == []
        await server.of("vera").post(f"/api/lifecycles/{id}/resolve", {"key": "passport"}, 403)
        asked = await ada.post(f"/api/lifecycles/{id}/resolve", {"key": "passport"})
        (task,) = asked["tasks"]
        await ada.post(f"/api/lifecycles/{id}/resolve", {"key": "passport"}, 409)
        await server.idle()

        def result(cargo: str) -> dict[str, str]:
            return {
                "correlation_id": task["correlation_id"], "status": "completed", "cargo_type": "document",
                "cargo_ref": cargo,
            }  # fmt: skip

        await server.of("eve").post("/api/workflow/task-complete", result("document://other/d1"), 404)
        await ada.post("/api/workflow/task-complete", result("document://other/d1"), 400)
        first = await ada.post("/api/workflow/task-complete", result("document://default/d1"), 202)
        assert (first["answer"], first["task"]["status"], first["state"]) == ("accepted", "partial", "OPEN")
        again = await ada.post("/api/workflow/task-complete", result("document://default/d1"), 200)
        assert (again["answer"], again["task"]["received"]) == ("known", 1)
        second = await ada.post("/api/workflow/task-complete", result("document://default/d2"), 202)
        assert (second["task"]["status"], second["state"]) == ("completed", "REVIEW")
        late = await ada.post("/api/workflow/task-complete", result("document://default/d3"), 200)
        assert late["answer"] == "over"
        tasks = (await ada.get(f"/api/workflow/{id}/pending-tasks"))["tasks"]
        assert [(each["status"], each["received"], each["expected"]) for each in tasks] == [("completed", 2, 2)]
        done = {"target": "DONE", "reason": "fine"}
        await ada.post(f"/api/lifecycles/{id}/transition", done, 403)
        await server.of("agent:bot").post(f"/api/lifecycles/{id}/transition", done, 403)
        assert (await sue.post(f"/api/lifecycles/{id}/transition", done))["answer"] == "proposed"
        await sue.post(f"/api/lifecycles/{id}/transition", {**done, "reason": "again"}, 403)
        moved = await rico.post(f"/api/lifecycles/{id}/transition", done)
        assert (moved["answer"], moved["instance"]["state"]) == ("moved", "DONE")
        history = (await ada.get(f"/api/lifecycles/{id}/history"))["items"]
        assert history[-1]["entry"] == "LifecycleEnded"


@pytest.mark.req("T1")
async def test_instances_are_listed_by_what_blocks_them_and_definitions_tell_their_states() -> None:
    async with served(people=PEOPLE) as server:
        ada = server.of("ada")
        await ada.post("/api/lifecycle-definitions", {"yaml": LIFECYCLE}, 201)
        for subject in ("c1", "c2", "c3"):
            await ada.post("/api/lifecycles", {"lifecycle": "papers", "subject": subject}, 201)
        (version,) = (await ada.get("/api/lifecycle-definitions"))["items"]
        told = [(each["name"], each["is_terminal"], each["requirements"]) for each in version["states"]]
        assert told == [("OPEN", False, ["passport"]), ("REVIEW", False, []), ("DONE", True, [])]
        asked = {"lifecycle": "papers", "state": "OPEN", "limit": 2}
        first = await ada.get("/api/lifecycles", blocker="passport", **asked)
        rest = await ada.get("/api/lifecycles", blocker="passport", after=first["next"], **asked)
        assert [len(each["items"]) for each in (first, rest)] == [2, 1]
        assert {each["subject"] for each in first["items"] + rest["items"]} == {"c1", "c2", "c3"}
        assert (await ada.get("/api/lifecycles", blocker="licence", **asked))["items"] == []
