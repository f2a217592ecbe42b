"""Human tasks over HTTP: whose they are, what is wrong with an answer, and that nobody answers for themselves."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.bpmn.model import Value
from perdure.bpmn.xml import write_model
from tests.engines.embedded.process_models import line, service, user
from tests.surfaces.http.sandbox_server import Server, person, served

FORM = (
    '{"type": "object", "required": ["verdict", "note"],'
    ' "properties": {"verdict": {"enum": ["yes", "no"]}, "note": {"type": "string"}}}'
)


async def waiting(server: Server, process: str = "p", **task: Any) -> str:
    """The key of a task of an instance that rico began."""
    xml = write_model(line(process, user("review", **task), service("after", "t.one")))
    await server.of("ada").post("/api/processes", {"xml": xml, "profile": "open"}, 201)
    view = await server.of("rico").post("/api/instances", {"process": process}, 201)
    await server.idle()
    shown = await server.of("ada").get(f"/api/instances/{view['id']}")
    return f"{view['id']}:{shown['tokens'][0]['number']}"


@pytest.mark.req("V20", "P2")
async def test_a_task_is_claimed_handed_on_and_completed_by_those_it_is_for(store_url: str) -> None:
    async with served(store_url) as server:
        key = await waiting(server, groups=Value("seniors"))
        sue, olga, rico, ada = (server.of(name) for name in ("sue", "olga", "rico", "ada"))
        shown = await sue.get(f"/api/tasks/{key}")
        assert (shown["state"], shown["groups"], shown["element"]) == ("open", "seniors", "review")
        refused = await olga.post(f"/api/tasks/{key}/claim", {}, 403)
        assert refused["code"] == "access.forbidden" and "group seniors" in refused["detail"]
        assert (await sue.post(f"/api/tasks/{key}/claim"))["claimed_by"] == "sue"
        assert (await rico.post(f"/api/tasks/{key}/complete", {"data": {}}, 423))["code"] == "command.blocked"
        assert (await sue.post(f"/api/tasks/{key}/unclaim"))["claimed_by"] == ""
        assert (await sue.post(f"/api/tasks/{key}/delegate", {"to": "olga"}))["delegated_by"] == ["sue"]
        given = await ada.post(f"/api/tasks/{key}/reassign", {"to": "rico", "override": "olga is away"})
        assert given["assignee"] == "rico"
        await sue.post(f"/api/tasks/{key}/reassign", {"to": "sue"}, 403)
        done = await rico.post(f"/api/tasks/{key}/complete", {"data": {"ok": True}, "message_id": "m-1"})
        assert done["data"]["ok"] is True
        await rico.post(f"/api/tasks/{key}/complete", {"data": {"ok": True}, "message_id": "m-1"})
        late = await sue.post(f"/api/tasks/{key}/complete", {"data": {}}, 409)
        assert "'rico' has completed it" in late["detail"]
        assert (await sue.get(f"/api/tasks/{key}", 404))["code"] == "command.not_found"


@pytest.mark.req("V20", "P2")
async def test_an_answer_that_does_not_fit_its_form_is_refused_field_by_field(store_url: str) -> None:
    async with served(store_url) as server:
        key = await waiting(server, properties={"schema": FORM})
        sue = server.of("sue")
        assert (await sue.get(f"/api/tasks/{key}"))["form"]["required"] == ["verdict", "note"]
        refused = await sue.post(f"/api/tasks/{key}/complete", {"data": {"verdict": "maybe"}}, 422)
        assert {each["path"] for each in refused["errors"]} == {"$.verdict", "$.note"}
        assert all(each["message"] for each in refused["errors"])
        assert (await sue.get(f"/api/tasks/{key}"))["state"] == "open"
        await sue.post(f"/api/tasks/{key}/complete", {"data": {"verdict": "yes", "note": ""}})


@pytest.mark.req("V20", "P3")
async def test_who_asked_cannot_answer_what_needs_four_eyes_by_any_door(store_url: str) -> None:
    async with served(store_url) as server:
        key = await waiting(server, properties={"perdure:fourEyes": "true"})
        rico, sue = server.of("rico"), server.of("sue")
        for path, body in (
            (f"/api/tasks/{key}/claim", {}),
            (f"/api/tasks/{key}/complete", {"data": {}}),
            (f"/api/tasks/{key}/delegate", {"to": "sue"}),
            (f"/api/tasks/{key}/reassign", {"to": "sue"}),
            ("/api/completions", {"key": key, "result": {}}),
        ):
            refused = await rico.post(path, body, 403)
            assert "four eyes" in refused["detail"], path
        await sue.post(f"/api/tasks/{key}/delegate", {"to": "rico"}, 403)
        await sue.post(f"/api/tasks/{key}/complete", {"data": {}})


@pytest.mark.req("V20", "P3")
async def test_who_started_a_runbook_cannot_agree_at_its_own_gate(store_url: str) -> None:
    async with served(store_url) as server:
        rico, sue = server.of("rico"), server.of("sue")
        begun = await rico.post("/api/runbooks", {"program": '(t.one :gate "seniors")'}, 201)
        await server.idle()
        key = f"{begun['id']}:1"
        assert (await sue.get(f"/api/tasks/{key}"))["requester"] == "rico"
        for path, body in (
            (f"/api/tasks/{key}/complete", {"data": {"agree": True}}),
            (f"/api/runbooks/{begun['id']}/steps/1/answer", {"agree": True}),
        ):
            refused = await rico.post(path, body, 403)
            assert refused["code"] == "access.forbidden"
        assert server.handlers.runs["t.one"] == 0
        wrong = await sue.post(f"/api/tasks/{key}/complete", {"data": {"agree": "yes"}}, 422)
        assert [each["path"] for each in wrong["errors"]] == ["$.agree"]
        await sue.post(f"/api/tasks/{key}/complete", {"data": {"agree": True}})
        await server.idle()
        assert server.handlers.runs["t.one"] == 1


@pytest.mark.req("V20", "P3")
async def test_tasks_of_verbs_a_key_does_not_reach_and_of_other_tenants_are_out_of_reach(store_url: str) -> None:
    agent = person("agent:max", "reviewer", kind="agent", groups=("seniors",))
    async with served(store_url, people=[agent]) as server:
        key = await waiting(server, process="carried", groups=Value("seniors"))
        assert "t.carried" in (await server.of("narrow").post(f"/api/tasks/{key}/claim", {}, 403))["detail"]
        id, number = key.split(":")
        unknown = f"{'0' * len(id)}:{number}"
        for act in ("", "/claim", "/unclaim", "/complete", "/accept"):
            method = "POST" if act else "GET"
            foreign = await server.of("eve").ask(method, f"/api/tasks/{key}{act}")
            missing = await server.of("eve").ask(method, f"/api/tasks/{unknown}{act}")
            assert (foreign.status_code, missing.status_code) == (404, 404)
            assert _bare(foreign.json(), id) == _bare(missing.json(), "0" * len(id))
        assert (await server.of("vera").post(f"/api/tasks/{key}/claim", {}, 403))["code"] == "access.forbidden"
        assert (await server.of("sue").get(f"/api/tasks/{key}"))["state"] == "open"
        accept = await server.of("agent:max").post(f"/api/tasks/{key}/accept", {}, 409)
        assert accept["code"] == "command.wrong_state"


def _bare(problem: dict[str, Any], id: str) -> str:
    kept = {name: value for name, value in problem.items() if name not in ("instance", "request_id")}
    return str(kept).replace(id, "ID")
