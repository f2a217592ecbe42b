"""Answers that bring what the process knows already: nobody decides another case than the one they were asked about."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from perdure.access.principal import Principal
from perdure.app.webhooks.incoming_webhooks import receive
from perdure.channels.webhook_settings import HookIn, Hooks, Secret
from perdure.channels.webhook_signatures import sign
from perdure.errors import PerdureError
from perdure.surfaces.mcp.pending_work_tools import CompleteTask, PublishMessage, complete_task, publish_message
from perdure.surfaces.mcp.tool import ToolSession
from perdure.surfaces.repl.platform_adapter import PlatformAdapter
from perdure.verbs import Call, Result
from tests.acceptance.commands import Shell
from tests.surfaces.http.sandbox_server import Server, served

VERBS = """
- name: case.review
  input_schema: {required: [case_id], properties: {case_id: {type: string}}}
  execution: {kind: durable, process: review, sub_verbs: [case.decide, case.note]}
- name: case.decide
  input_schema:
    required: [case_id, decision]
    properties: {case_id: {type: string}, decision: {type: string}, reason: {type: string}, at: {type: string}}
  execution: {kind: sync, effects: none}
- name: case.note
  execution: {kind: sync, effects: none}
"""
XML = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
 xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="x">
<message id="m" name="decided"><extensionElements><zeebe:subscription correlationKey="C"/></extensionElements></message>
<signal id="g" name="decided"/>
<process id="review" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="ask"/>
{wait}<sequenceFlow id="h" sourceRef="ask" targetRef="d"/>{after}<endEvent id="e"/></process></definitions>"""
PROPERTIES = "<extensionElements>{user}<zeebe:properties>{each}</zeebe:properties></extensionElements>"
TASK = '<userTask id="ask">{properties}</userTask>'
RECEIVE = '<receiveTask id="ask" messageRef="m">{properties}</receiveTask>'
SIGNAL = '<intermediateCatchEvent id="ask">{properties}<signalEventDefinition signalRef="g"/></intermediateCatchEvent>'
INTAKE = {"intake": "case.decide"}
FORM = {"schema": "case.decide"}
OURS, THEIRS = "C-1", "C-2"
SECRET = "a secret of sixteen bytes and more"
pytestmark = [pytest.mark.req("V37"), pytest.mark.both_stores(one_in=8)]


def model(wait: str, properties: dict[str, str], *, loops: bool = False) -> str:
    """A wait and its end; without an intake the verb that decides comes next, and one that loops comes thrice."""
    each = "".join(f'<zeebe:property name="{name}" value="{text}"/>' for name, text in properties.items())
    user = "<zeebe:userTask/>" if wait is TASK else ""
    told = PROPERTIES.format(user=user, each=each)
    told += '<standardLoopCharacteristics loopMaximum="3"/>' if loops else ""
    verb = "case.note" if "intake" in properties else "case.decide"
    definition = f'<extensionElements><zeebe:taskDefinition type="{verb}"/></extensionElements>'
    after = f'<serviceTask id="d">{definition}</serviceTask><sequenceFlow id="i" sourceRef="d" targetRef="e"/>'
    return XML.format(wait=wait.format(properties=told), after=after)


class House:
    """A server whose process waits, and what its deciding verb was given."""

    def __init__(self, server: Server, decided: list[dict[str, Any]]) -> None:
        self.server, self.decided = server, decided

    async def key(self) -> str:
        await self.server.idle()
        return str((await self.server.of("ada").get("/api/tasks"))["items"][0]["key"])

    async def waits(self) -> bool:
        await self.server.idle()
        items = (await self.server.of("ada").get("/api/instances", whole=True))["items"]
        return [each["state"] for each in items] == ["active"]


@asynccontextmanager
async def asking(url: str, wait: str, properties: dict[str, str]) -> AsyncIterator[House]:
    decided: list[dict[str, Any]] = []

    async def decide(call: Call) -> Result:
        decided.append({name: call.args.get(name) for name in ("case_id", "decision")})
        return Result({"decision": call.args.get("decision")})

    async with served(url, VERBS, handlers={"case.decide": decide}) as server:
        await server.of("ada").post("/api/processes", {"xml": model(wait, properties)}, 201)
        await server.of("ada").post("/api/verbs/case.review/calls", {"args": {"case_id": OURS}}, 201)
        await server.idle()
        yield House(server, decided)


Road = Callable[[House, dict[str, Any]], Awaitable[str]]
"""Brings an answer and gives back what was said to it: empty when it was taken."""


async def by_python(house: House, data: dict[str, Any]) -> str:
    return await told(house.server.sandbox.tasks.complete(await house.key(), data))


async def by_http(house: House, data: dict[str, Any]) -> str:
    answer = await house.server.of("sue").ask("POST", f"/api/tasks/{await house.key()}/complete", json={"data": data})
    return "" if answer.status_code == 200 else answer.text


async def by_completion(house: House, data: dict[str, Any]) -> str:
    body = {"key": await house.key(), "result": data}
    answer = await house.server.of("olga").ask("POST", "/api/completions", json=body)
    return "" if answer.status_code == 202 else answer.text


async def by_token(house: House, data: dict[str, Any]) -> str:
    key = await house.key()
    token = (await house.server.of("olga").post("/api/parked/token", {"key": key}))["token"]
    answer = await house.server.waiting(token).ask("POST", "/api/completions", json={"key": key, "result": data})
    return "" if answer.status_code == 202 else answer.text


async def by_repl(house: House, data: dict[str, Any]) -> str:
    return await told(PlatformAdapter(house.server.sandbox, "local").answer(await house.key(), data))


async def by_mcp(house: House, data: dict[str, Any]) -> str:
    desk = ToolSession(house.server.sandbox, Principal("default", "sue", "person", frozenset({"reviewer"})))
    return await told(complete_task(desk, CompleteTask(await house.key(), data)))


async def by_webhook(house: House, data: dict[str, Any]) -> str:
    hooks = Hooks((HookIn("bank", Secret(("HOOK_SECRET",)), principal="bank", verbs=("*",)),))
    return await hooked(house, hooks, {"key": await house.key(), "result": data})


async def by_message(house: House, data: dict[str, Any]) -> str:
    body = {"name": "decided", "key": "C", "data": data}
    answer = await house.server.of("olga").ask("POST", "/api/messages", json=body)
    return "" if answer.json().get("outcome") == "correlated" else answer.text


async def by_message_at_once(house: House, data: dict[str, Any]) -> str:
    body = {"name": "decided", "key": "C", "data": data}
    answer = await house.server.of("olga").ask("POST", "/api/messages/correlate", json=body)
    return "" if answer.status_code == 200 else answer.text


async def by_message_over_mcp(house: House, data: dict[str, Any]) -> str:
    desk = ToolSession(house.server.sandbox, Principal("default", "agent:a", "agent", frozenset({"operator"})))
    return await told(publish_message(desk, PublishMessage("decided", "C", data)))


async def by_message_of_a_webhook(house: House, data: dict[str, Any]) -> str:
    hooks = Hooks((HookIn("bank", Secret(("HOOK_SECRET",)), message="decided", key="at"),))
    return await hooked(house, hooks, {"at": "C", **data})


async def by_signal(house: House, data: dict[str, Any]) -> str:
    await house.server.of("olga").post("/api/signals", {"name": "decided", "data": data})
    letters = (await house.server.of("ada").get("/api/dead-letters"))["items"]
    return str(letters[0]["reason"]) if letters else ""


async def hooked(house: House, hooks: Hooks, body: dict[str, Any]) -> str:
    text = json.dumps(body).encode()
    headers = sign(SECRET.encode(), "m-1", house.server.sandbox.runtime.sources.now(), text)
    return await told(receive(house.server.sandbox, hooks, "bank", headers, text))


async def told(act: Awaitable[Any]) -> str:
    try:
        await act
    except PerdureError as error:
        return str(error)
    return ""


TASK_ROADS = [by_python, by_repl, by_http, by_completion, by_token, by_mcp, by_webhook]
MESSAGE_ROADS = [by_message, by_message_at_once, by_message_over_mcp, by_message_of_a_webhook]
ROADS = [(TASK, road) for road in TASK_ROADS] + [(RECEIVE, road) for road in MESSAGE_ROADS] + [(SIGNAL, by_signal)]
roads = pytest.mark.parametrize(("wait", "road"), ROADS, ids=lambda each: getattr(each, "__name__", ""))


@pytest.fixture(autouse=True)
def hook_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_SECRET", SECRET)


@roads
@pytest.mark.parametrize("properties", [INTAKE, {**INTAKE, **FORM}, FORM, {}], ids=["intake", "both", "form", "none"])
async def test_an_answer_never_replaces_what_the_process_gives(
    store_url: str, wait: str, road: Road, properties: dict[str, str]
) -> None:
    async with asking(store_url, wait, properties) as house:
        refused = await road(house, {"case_id": THEIRS, "decision": "yes"})
        assert "case_id" in refused and "the process gives it" in refused
        assert await house.waits() and house.decided == []


@roads
async def test_an_equal_value_is_taken_and_the_verb_gets_that_of_the_process(
    store_url: str, wait: str, road: Road
) -> None:
    async with asking(store_url, wait, INTAKE) as house:
        assert await road(house, {"case_id": OURS, "decision": "yes"}) == ""
        await house.server.idle()
        assert house.decided == [{"case_id": OURS, "decision": "yes"}]


@pytest.mark.parametrize("name", ["case-id", ":case-id", "case_id"])
@pytest.mark.parametrize("value", [THEIRS, None, "", ["C-1"], {"case_id": "C-1"}])
async def test_no_spelling_of_a_known_field_gets_past(store_url: str, name: str, value: Any) -> None:
    async with asking(store_url, TASK, INTAKE) as house:
        assert "case_id" in await by_http(house, {name: value, "decision": "yes"})
        assert await house.waits() and house.decided == []


async def test_a_kept_message_that_would_replace_it_is_a_dead_letter_and_the_wait_goes_on(store_url: str) -> None:
    async with served(store_url, VERBS) as server:
        ada = server.of("ada")
        await ada.post("/api/processes", {"xml": model(RECEIVE, INTAKE)}, 201)
        body = {"name": "decided", "key": "C", "data": {"case_id": THEIRS, "decision": "yes"}, "ttl_seconds": 600}
        assert (await ada.post("/api/messages", body, 202))["outcome"] == "buffered"
        await ada.post("/api/verbs/case.review/calls", {"args": {"case_id": OURS}}, 201)
        await server.idle()
        [letter] = (await ada.get("/api/dead-letters"))["items"]
        assert "$.case_id" in letter["reason"]
        assert [each["state"] for each in (await ada.get("/api/instances"))["items"]] == ["active"]


@pytest.mark.parametrize("properties", [INTAKE, {**INTAKE, **FORM}, FORM], ids=["intake", "both", "form"])
async def test_a_form_asks_for_no_known_field_and_shows_it(store_url: str, properties: dict[str, str]) -> None:
    async with asking(store_url, TASK, properties) as house:
        task = await house.server.of("sue").get(f"/api/tasks/{await house.key()}")
        assert sorted(task["form"]["properties"]) == ["at", "decision", "reason"]
        assert task["form"]["required"] == ["decision"]
        assert task["known"] == {"case_id": OURS}


@pytest.mark.parametrize("properties", [INTAKE, {**INTAKE, **FORM}, FORM], ids=["intake", "both", "form"])
async def test_a_wait_that_comes_again_asks_again_for_what_its_answer_brought_alone(
    store_url: str, properties: dict[str, str]
) -> None:
    async with asking(store_url, TASK, properties) as house:
        ada = house.server.of("ada")
        await ada.post("/api/processes", {"xml": model(TASK, properties, loops=True), "profile": "open"}, 201)
        await ada.post("/api/instances", {"process": "review", "data": {"case_id": "C-9"}}, 201)
        await house.server.idle()
        key = [each["key"] for each in (await ada.get("/api/tasks"))["items"]][-1]
        for turn, decision in enumerate(("no", "yes", "perhaps"), 1):
            task = await ada.get(f"/api/tasks/{key}")
            assert ("decision" in task["form"]["properties"], task["known"]) == (True, {"case_id": "C-9"})
            wrong = {"case_id": THEIRS, "decision": decision}
            await ada.post(f"/api/tasks/{key}/complete", {"data": wrong}, 422)
            right = {"case_id": "C-9", "decision": decision}
            await ada.post(f"/api/tasks/{key}/complete", {"data": right})
            await house.server.idle()
            if turn < 3:
                key = [each["key"] for each in (await ada.get("/api/tasks"))["items"]][-1]
        assert house.decided[-1] == {"case_id": "C-9", "decision": "perhaps"}
        assert {each["case_id"] for each in house.decided} == {"C-9"}


async def test_a_wait_may_name_the_known_fields_that_its_answer_replaces(store_url: str) -> None:
    async with asking(store_url, TASK, {**INTAKE, "replaces": "case_id"}) as house:
        assert (await house.server.of("sue").get(f"/api/tasks/{await house.key()}"))["known"] == {}
        assert await by_http(house, {"case_id": THEIRS, "decision": "yes"}) == ""
        await house.server.idle()
        assert house.decided == [{"case_id": THEIRS, "decision": "yes"}]


def test_at_a_terminal_a_known_field_is_shown_and_refused_and_the_task_stays(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "perdure.yaml").write_text("definitions: [verbs.yaml]\nmodels: [models]\n")
    mocked = VERBS.replace("effects: none", "effects: none, handler: mock::instant_complete")
    (tmp_path / "verbs.yaml").write_text(mocked)
    (tmp_path / "models" / "review.bpmn").write_text(model(TASK, INTAKE))
    shell = Shell(tmp_path)
    shell.run("call", "case.review", f"case_id={OURS}")
    [task] = shell.json("tasks", "list")
    assert shell.json("tasks", "show", task["key"])["known"] == {"case_id": OURS}
    shown = shell.run("tasks", "show", task["key"]).out
    assert OURS in shown and "case_id: string" not in shown
    wrong = json.dumps({"case_id": THEIRS, "decision": "yes"})
    assert (
        "$.case_id: the process gives it" in shell.run("tasks", "complete", task["key"], "--data", wrong, code=2).error
    )
    assert [each["key"] for each in shell.json("tasks", "list")] == [task["key"]]
