"""Workflows as a way around: what they call counts at their start, and so do keys, tenants and whoever asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.orchestration import CallActivity, ServiceTask, UserTask, Workflow, WorkflowContext
from tests.security.test_grave_starts import MILD, deployed, emptied, model, process, task
from tests.surfaces.http.sandbox_server import Server, person, served

VERBS = """
- name: vault.empty
  consequence: requires_authorisation
  execution: {kind: sync, effects: none}
- name: note.keep
  consequence: benign
  execution: {kind: sync, effects: none}
"""
PEOPLE = [
    person("agent:ann", "operator", "author", "reviewer", kind="agent"),
    person("robot", "operator", "author", kind="service"),
    person("outer", "operator", "author", "reviewer", verbs=("outer", "outer.*")),
    person("viewer-of-all", "viewer"),
]
pytestmark = pytest.mark.both_stores


async def limit(context: WorkflowContext) -> dict[str, Any]:
    return {"limit": await context.get_shared("limit", 0)}


def outer(called: str = "q") -> Workflow:
    """A workflow that calls a process, directly."""
    workflow = Workflow("outer")
    workflow.start().then(CallActivity("call", called)).end()
    return workflow


def middle() -> Workflow:
    """A workflow that calls the workflow that calls."""
    workflow = Workflow("middle")
    workflow.start().then(CallActivity("call", "outer")).end()
    return workflow


@pytest.mark.req("V36", "O12")
@pytest.mark.parametrize("workflow", ["outer", "middle"])
async def test_calling_a_process_from_a_workflow_lifts_no_check_of_its_start(
    store_url: str, workflow: str, tmp_path: Path
) -> None:
    (tmp_path / "q.bpmn").write_text(model(process("q", task(MILD))))
    given = {"workflows": [outer(), middle()], "models": [tmp_path]}
    async with served(store_url, VERBS, people=PEOPLE, **given) as server:
        await server.of("agent:ann").post("/api/instances", {"process": workflow}, 201)
        await server.idle()
        await deployed(server, model(process("q", task())))
        for who in ("agent:ann", "robot"):
            for path, body in (("/api/instances", {"process": workflow}), (f"/api/verbs/{workflow}/calls", {})):
                asked = await server.of(who).post(path, body, 423)
                agreed = {**body, "confirm": asked["plan_hash"], "phrase": asked["phrase"]}
                await server.of(who).post(path, agreed, 423)
        assert not await emptied(server)
        asked = await server.of("olga").post("/api/instances", {"process": workflow}, 423)
        assert asked["tier"] == "requires_authorisation"
        agreed = {"process": workflow, "confirm": asked["plan_hash"], "phrase": asked["phrase"]}
        await server.of("outer").post("/api/instances", agreed, 403)
        await server.of("olga").post("/api/instances", agreed, 201)
        assert await emptied(server)


@pytest.mark.req("V36", "O12")
async def test_who_began_a_workflow_does_not_decide_in_one_that_it_calls(store_url: str) -> None:
    inner = Workflow("inner")
    inner.start().then(UserTask("ask", title="Agree?", groups=["seniors"], four_eyes=True)).end()
    async with served(store_url, VERBS, workflows=[outer("inner"), inner]) as server:
        await server.of("rico").post("/api/instances", {"process": "outer"}, 201)
        await server.idle()
        (asked,) = (await server.of("sue").get("/api/tasks"))["items"]
        path, answer = f"/api/tasks/{asked['key']}/complete", {"data": {"approved": True}}
        assert "four eyes" in (await server.of("rico").post(path, answer, 403))["detail"]
        await server.of("sue").post(path, answer)


@pytest.mark.req("V36", "O3")
async def test_global_variables_are_changed_by_operators_of_their_tenant_who_reach_the_verb(store_url: str) -> None:
    asking = Workflow("outer")
    asking.start().then(ServiceTask("look", function=limit, output_variables=["limit"])).end()
    path, change = "/api/verbs/workflow.set-variable/calls", {"args": {"name": "limit", "value": 9}, "wait": True}
    async with served(store_url, VERBS, people=PEOPLE, workflows=[asking]) as server:
        for who in ("viewer-of-all", "sue", "outer"):
            await server.of(who).post(path, change, 403)
        await server.of("eve").post(path, {"args": {"name": "limit", "value": 666}, "wait": True}, 201)
        assert await looked(server) == 0, "another tenant's is not seen"
        await server.of("olga").post(path, change, 201)
        assert await looked(server) == 9
        for who in ("outer", "sue"):
            await server.of(who).post("/api/verbs/workflow.get-variable/calls", {"args": {"name": "limit"}}, 403)


async def looked(server: Server) -> Any:
    """The variable as a task sees it now."""
    id = (await server.of("olga").post("/api/instances", {"process": "outer"}, 201))["id"]
    await server.idle()
    return (await server.of("olga").get(f"/api/instances/{id}"))["data"]["limit"]
