"""Lifecycles as a way around: grave resolutions, forged results, a migration past a decision, and a narrow key."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.errors import ConfirmationRequiredError
from perdure.surfaces.mcp.lifecycle_tools import ResolveBlocker, StartLifecycle, resolve_blocker, start_lifecycle
from perdure.surfaces.mcp.tool import tool_session
from tests.surfaces.http.sandbox_server import Server, person, served

VERBS = """
entities:
  client:
    key: id
    fields: {id: {type: string, required: true}, iban: string}
documents:
  form: {data_schema: {properties: {title: {type: string}}}}
verbs:
  - name: sec.client
    input_schema: {properties: {id: {type: string}, iban: {type: string}}}
    execution: {kind: sync, handler: "crud::execute", params: {entity: client, operation: create}}
  - name: sec.change
    input_schema: {properties: {id: {type: string}, iban: {type: string}}}
    execution: {kind: sync, handler: "crud::execute", params: {entity: client, operation: update}}
  - name: vault.empty
    consequence: requires_authorisation
    execution: {kind: sync, effects: external}
  - name: vault.peep
    consequence: requires_authorisation
    execution: {kind: sync, effects: none}
  - name: pub.ask
    consequence: benign
    metadata: {creates_pending_task: true}
    execution: {kind: sync, effects: external}
  - name: sec.clear
    consequence: benign
    execution: {kind: sync, effects: none}
  - name: desk.approve
    consequence: benign
    output_schema: {required: [cargo_ref], properties: {cargo_ref: {type: string}}}
    execution: {kind: durable, task: {title: Approve it, groups: [seniors], four_eyes: true}}
"""
FILE = """
lifecycle: {name}
states:
  OPEN:
    requirements:
      - {{{guard}, id: it, on_fail: {{blocker: {{type: Missing, resolution: "({verb})", auto: {auto}}}}}}}
  REVIEW:
  DONE: {{terminal: true}}
transitions:
  - {{from: OPEN, to: REVIEW}}
  - {{from: REVIEW, to: DONE, manual: true{rules}}}
"""
CAME = "type: field_present, field: 'task_result:it'"
EYES = ", role: seniors, four_eyes: true"
AGENT = person("agent:ann", "operator", "author", "reviewer", kind="agent")
PEOPLE = [
    AGENT,
    person("pub", "operator", "author", "reviewer", verbs=("pub.*",)),
    person("anne", "operator", "author"),
    person("otto", "operator", "reviewer", groups=("seniors",)),
]
pytestmark = pytest.mark.req("V36", "P3")


def file(name: str = "l", verb: str = "pub.ask", guard: str = CAME, rules: str = "", *, auto: bool = False) -> str:
    return FILE.format(name=name, verb=verb, guard=guard, rules=rules, auto=str(auto).lower())


class Ran:
    """Counts the runs of grave verbs."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, call: Any) -> dict[str, Any]:
        self.count += 1
        return {"holds": True}


def serving(ran: Ran | None = None) -> Any:
    ran = ran or Ran()
    handlers = {
        "vault.empty": ran, "vault.peep": ran, "pub.ask": lambda call: {}, "sec.clear": lambda call: {"holds": False}
    }  # fmt: skip
    return served("sqlite://", VERBS, people=PEOPLE, handlers=handlers)


async def begun(server: Server, text: str, **context: Any) -> str:
    """An instance of a lifecycle that Ada has deployed."""
    await server.of("ada").post("/api/lifecycle-definitions", {"yaml": text}, 201)
    asked = {"lifecycle": "l", "subject": "c1", "context": context}
    made = await server.of("ada").post("/api/lifecycles", asked, 201)
    await server.idle()
    return str(made["instance"]["id"])


async def test_a_grave_resolution_is_called_by_a_person_who_confirms_it() -> None:
    async with serving(ran := Ran()) as server:
        id = await begun(server, file(verb="vault.empty"))
        path, asked = f"/api/lifecycles/{id}/resolve", {"key": "it"}
        await server.of("agent:ann").post(path, asked, 423)
        with pytest.raises(ConfirmationRequiredError):
            await resolve_blocker(tool_session(server.sandbox, AGENT), ResolveBlocker(id, "it"))
        required = await server.of("olga").post(path, asked, 423)
        await server.idle()
        assert ran.count == 0
        agreed = {**asked, "confirm": required["plan_hash"], "phrase": required["phrase"]}
        await server.of("agent:ann").post(path, agreed, 423)
        await server.of("olga").post(path, agreed)
        await server.idle()
        assert ran.count == 1


@pytest.mark.parametrize(
    "text",
    [file(verb="vault.empty", auto=True), file(guard="type: custom, verb: vault.peep")],
    ids=["automatic", "guard"],
)
async def test_what_a_lifecycle_calls_by_itself_is_deployed_and_started_by_people_who_confirm(text: str) -> None:
    async with serving(ran := Ran()) as server:
        body, agent = {"yaml": text}, server.of("agent:ann")
        await agent.post("/api/lifecycle-definitions", body, 423)
        required = await server.of("anne").post("/api/lifecycle-definitions", body, 423)
        agreed = {"confirm": required["plan_hash"], "phrase": required["phrase"]}
        await server.of("anne").post("/api/lifecycle-definitions", {**body, **agreed}, 201)
        start = {"lifecycle": "l", "subject": "c1"}
        await agent.post("/api/lifecycles", start, 423)
        with pytest.raises(ConfirmationRequiredError):
            await start_lifecycle(tool_session(server.sandbox, AGENT), StartLifecycle("l", "c1"))
        required = await server.of("anne").post("/api/lifecycles", start, 423)
        await server.idle()
        assert ran.count == 0
        agreed = {"confirm": required["plan_hash"], "phrase": required["phrase"]}
        await server.of("anne").post("/api/lifecycles", {**start, **agreed}, 201)
        await server.idle()
        assert ran.count


async def test_nobody_brings_the_result_of_a_task_that_people_decide() -> None:
    async with serving() as server:
        await server.of("ada").post("/api/lifecycle-definitions", {"yaml": file(verb="desk.approve")}, 201)
        forged = {"task_result:it": {"cargo_ref": "document://default/d1"}}
        start = {"lifecycle": "l", "subject": "c1"}
        await server.of("agent:ann").post("/api/lifecycles", {**start, "context": forged}, 422)
        id = (await server.of("agent:ann").post("/api/lifecycles", start, 201))["instance"]["id"]
        asked = await server.of("agent:ann").post(f"/api/lifecycles/{id}/resolve", {"key": "it"})
        await server.idle()
        (task,) = asked["tasks"]
        result = {"correlation_id": task["correlation_id"], "status": "completed"}
        for more in ({"cargo_ref": "document://default/d1"}, {}):
            await server.of("agent:ann").post("/api/workflow/task-complete", {**result, **more}, 403)
        (open_task,) = (await server.of("rico").get("/api/tasks"))["items"]
        made = (await server.of("ada").post("/api/documents", {"type": "form", "data": {}}, 201))["id"]
        answer = {"data": {"cargo_ref": f"document://default/{made}"}}
        await server.of("rico").post(f"/api/tasks/{open_task['key']}/complete", answer)
        await server.idle()
        assert (await server.of("ada").get(f"/api/lifecycles/{id}"))["state"] == "REVIEW"


async def test_whose_agent_asks_for_a_resolution_does_not_decide_it() -> None:
    async with serving() as server:
        id = await begun(server, file(verb="desk.approve"))
        made = {"name": "robot", "principal": "agent:rob", "kind": "agent", "roles": ["operator"]}
        key = await server.of("ada").post("/api/keys", made, 201)
        headers = {"Authorization": f"Bearer {key['text']}"}
        await server.of("ada").post(f"/api/lifecycles/{id}/resolve", {"key": "it"}, headers=headers)
        await server.idle()
        perdure = server.sandbox.acting(principal="ada", groups=["seniors"])
        (task,) = await perdure.tasks.list()
        with pytest.raises(Exception, match="four eyes"):
            await perdure.tasks.complete(task.key, {"cargo_ref": "document://default/d1"})


async def test_who_starts_a_lifecycle_does_not_decide_what_it_asks_for_by_itself() -> None:
    async with serving() as server:
        text = file(verb="desk.approve", auto=True)
        await server.of("ada").post("/api/lifecycle-definitions", {"yaml": text}, 201)
        await server.of("rico").post("/api/lifecycles", {"lifecycle": "l", "subject": "c1"}, 201)
        await server.idle()
        (task,) = (await server.of("otto").get("/api/tasks"))["items"]
        path, answer = f"/api/tasks/{task['key']}/complete", {"data": {"cargo_ref": "document://default/d1"}}
        await server.of("rico").post(path, answer, 403)
        await server.of("otto").post(path, answer)


async def test_a_migration_past_a_decision_needs_a_second_person() -> None:
    async with serving() as server:
        id = await begun(server, file(guard="type: field_present, field: at", rules=EYES), at="once")
        path, ada = f"/api/lifecycles/{id}/migrate", server.of("ada")
        past = {"version": 1, "state": "DONE", "reason": "in a hurry"}
        await ada.post(path, {**past, "reason": ""}, 422)
        assert (await ada.post(path, past))["is_done"] is False
        await ada.post(path, past, 403)
        await server.of("olga").post(path, past, 403)
        assert (await ada.get(f"/api/lifecycles/{id}"))["state"] == "REVIEW"
        loose = file(guard="type: field_present, field: at")
        await ada.post("/api/lifecycle-definitions", {"yaml": loose}, 201)
        assert (await ada.post(path, {"version": 2, "reason": "new rules"}))["is_done"] is False
        shown = await ada.get(f"/api/lifecycles/{id}")
        assert (shown["version"], shown["state"], shown["migration"]["by"]) == (1, "REVIEW", "ada")
        assert (await server.of("otto").post(path, {"version": 2, "reason": "new rules"}))["is_done"] is True
        assert (await ada.get(f"/api/lifecycles/{id}"))["version"] == 2


async def test_a_migration_past_what_a_state_requires_needs_a_second_person() -> None:
    async with serving() as server:
        id = await begun(server, file())
        path, past = f"/api/lifecycles/{id}/migrate", {"version": 1, "state": "DONE", "reason": "in a hurry"}
        assert (await server.of("agent:ann").post(path, past))["is_proposed"] is True
        await server.of("agent:ann").post(path, past, 403)
        assert (await server.of("ada").get(f"/api/lifecycles/{id}"))["state"] == "OPEN"
        assert (await server.of("olga").post(path, past))["is_done"] is True


async def test_who_agrees_to_a_transition_agrees_to_what_was_proposed() -> None:
    async with serving() as server:
        ada, call = server.of("ada"), "/api/verbs/sec.client/calls"
        await ada.post(call, {"args": {"id": "c1", "iban": "DE1"}}, 201)
        text = file(guard="type: field_present, field: at", rules=f"{EYES}, guard: requirements")
        seen = "  REVIEW: {requirements: [{type: field_present, record: client, field: iban}]}"
        id = await begun(server, text.replace("  REVIEW:", seen, 1), at="once")
        path, done = f"/api/lifecycles/{id}/transition", {"target": "DONE"}
        assert (await server.of("sue").post(path, done))["answer"] == "proposed"
        await ada.post(call.replace("client", "change"), {"args": {"id": "c1", "iban": "DE2"}}, 201)
        await server.idle()
        reopened = await server.of("rico").post(path, done)
        assert (reopened["answer"], reopened["changed"]) == ("reopened", ["record/client/c1"])
        await server.of("rico").post(path, done, 403)
        assert (await server.of("sue").post(path, done))["answer"] == "moved"


async def test_the_journal_of_a_lifecycle_holds_no_data_of_records() -> None:
    async with serving() as server:
        ada = server.of("ada")
        await ada.post("/api/verbs/sec.client/calls", {"args": {"id": "it", "iban": "DE1"}}, 201)
        id = await begun(server, file(guard="type: field_present, record: client, field: iban"))
        history = (await ada.get(f"/api/lifecycles/{id}/history"))["items"]
        facts = [fact for each in history for fact in each["data"].get("facts", ())]
        assert {fact["key"] for fact in facts} == {"record/client/it"}
        assert all(fact["value"]["version"] == 1 for fact in facts)
        assert "DE1" not in str(history)


GUARDS = (
    "type: document_exists, document_type: form",
    "type: custom, verb: sec.clear",
    "type: field_present, record: client, field: iban",
    "type: lifecycle_state, lifecycle: other, in: [OPEN]",
    "type: runbook_state, runbook: $r, state: completed",
)


@pytest.mark.parametrize("guard", GUARDS)
async def test_a_narrow_key_reaches_all_that_the_guards_of_a_lifecycle_look_at(guard: str) -> None:
    async with serving() as server:
        pub = server.of("pub")
        await server.of("ada").post("/api/lifecycle-definitions", {"yaml": file("other", "sec.clear")}, 201)
        await pub.post("/api/lifecycle-definitions", {"yaml": file(guard=guard)}, 403)
        id = await begun(server, file(guard=guard))
        await pub.post("/api/lifecycles", {"lifecycle": "l", "subject": "c2"}, 403)
        for path in ("", "/history"):
            await pub.get(f"/api/lifecycles/{id}{path}", 403)
        assert (await pub.get("/api/lifecycle-definitions"))["items"] == []
        await pub.post("/api/lifecycle-definitions/l/versions/1/retire", {}, 403)
        await pub.post("/api/lifecycle-definitions", {"yaml": file()}, 403)
        await pub.post("/api/lifecycle-definitions", {"yaml": file("mine")}, 201)


async def test_a_result_that_points_at_a_document_points_at_one_that_is_there() -> None:
    async with serving() as server:
        ada = server.of("ada")
        await ada.post("/api/lifecycle-definitions", {"yaml": file()}, 201)
        id = (await ada.post("/api/lifecycles", {"lifecycle": "l", "subject": "c1"}, 201))["instance"]["id"]
        (task,) = (await ada.post(f"/api/lifecycles/{id}/resolve", {"key": "it"}))["tasks"]
        result = {"correlation_id": task["correlation_id"], "status": "completed"}
        made = (await ada.post("/api/documents", {"type": "form", "data": {}}, 201))["id"]
        path = "/api/workflow/task-complete"
        for absent in ("document://default/d1", f"version://default/{made}/7", f"document://default/{id}"):
            await ada.post(path, {**result, "cargo_ref": absent}, 404)
            await ada.post(path, {**result, "items": [{"cargo_ref": absent, "cargo_type": "document"}]}, 404)
        there = {**result, "cargo_ref": f"version://default/{made}/1"}
        await server.of("pub").post(path, there, 403)
        assert (await ada.post(path, there, 202))["state"] == "REVIEW"


async def test_an_answer_that_ends_a_call_points_at_a_document_that_is_there() -> None:
    async with serving() as server:
        ada, otto = server.of("ada"), server.of("otto")
        await ada.post("/api/lifecycle-definitions", {"yaml": file(verb="desk.approve")}, 201)
        made = (await ada.post("/api/documents", {"type": "form", "data": {}}, 201))["id"]
        for subject, cargo, state in (
            ("c1", "document://default/d1", "OPEN"),
            ("c2", f"document://default/{made}", "REVIEW"),
        ):
            id = (await ada.post("/api/lifecycles", {"lifecycle": "l", "subject": subject}, 201))["instance"]["id"]
            await ada.post(f"/api/lifecycles/{id}/resolve", {"key": "it"})
            await server.idle()
            (task,) = (await otto.get("/api/tasks"))["items"]
            await otto.post(f"/api/tasks/{task['key']}/complete", {"data": {"cargo_ref": cargo}})
            await server.idle()
            shown = await ada.get(f"/api/lifecycles/{id}")
            assert (shown["state"], shown["tasks"][0]["status"]) == (
                state,
                "failed" if state == "OPEN" else "completed",
            )
