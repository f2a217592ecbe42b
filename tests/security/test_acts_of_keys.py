"""Whatever agents, clients and keys did is in the journal, the audit trail and the exported document, with the key."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perdure import Perdure
from perdure.access.principal import Principal
from perdure.app.compliance_export import check_document
from perdure.surfaces.mcp.tool import tool_session
from perdure.surfaces.mcp.verb_tools import CallVerb, call_verb
from perdure.verbs import load_text
from tests.engines.embedded.process_models import line, message, user, wait
from tests.security.office import Office

pytestmark = [pytest.mark.req("V30", "V36"), pytest.mark.both_stores]
VERBS = """
- name: desk.wait
  consequence: benign
  execution: {kind: durable}
"""
LATE = line("late", wait("arrival", "papers"), user("sign"), messages=(message("papers", key="7"),))


async def exported(desk: Office, who: str, kind: str, id: str) -> dict[str, Any]:
    answer = await desk.get(who, f"/api/{kind}/{id}/export")
    assert answer.status_code == 200, answer.text
    assert check_document(answer.content).findings == []
    return dict(json.loads(answer.content))


async def key_of(desk: Office, name: str) -> str:
    (found,) = [each.id for each in await desk.perdure.access.keys() if each.principal == name]
    return found


async def test_what_an_agent_asked_for_is_told_with_its_key(store_url: str) -> None:
    async with Perdure.open(store_url, definitions=load_text(VERBS)) as perdure:
        await perdure.runtime.recovered.wait()
        desk = Office(perdure)
        roles = {"roles": ["operator", "reviewer", "author", "admin"]}
        bot, ada = await desk.key("agent:bot", "agent"), await desk.key("ada", **roles)
        made = (await desk.post(bot, "/api/verbs/desk.wait/calls", args={})).json()
        key = made["waiting_for"]["key"]
        ended = await desk.post(ada, "/api/completions", key=key, result={"fine": True})
        assert ended.status_code == 202, ended.text
        bots, adas = await key_of(desk, "agent:bot"), await key_of(desk, "ada")
        asked = (await exported(desk, ada, "calls", made["id"]))["asked"]
        told = [(each["who"], each["by_key"], each["what"]) for each in asked]
        assert told == [("agent:bot", bots, "CallStarted"), ("ada", adas, "CompletionReceived")]
        events = [each async for each in perdure.runbooks.events(made["id"])]
        assert {each.key for each in events if each.principal == "agent:bot" and each.entry == "CallStarted"} == {bots}


async def test_messages_and_answers_of_instances_are_told_with_their_keys(store_url: str) -> None:
    async with Perdure.open(store_url, definitions=load_text(VERBS)) as perdure:
        await perdure.runtime.recovered.wait()
        desk = Office(perdure)
        await perdure.processes.deploy(LATE, profile="open")
        roles = {"roles": ["operator", "reviewer", "author", "admin"]}
        bot, ada = await desk.key("robot", "service"), await desk.key("ada", **roles)
        begun = (await desk.post(bot, "/api/instances", process="late", until="rest")).json()
        sent = await desk.post(bot, "/api/messages", name="papers", key="7", message_id="m-1")
        assert sent.status_code == 200, sent.text
        view = await perdure.instances.wait(begun["id"], until="rest", timeout_seconds=10)
        done = await desk.post(ada, f"/api/tasks/{begun['id']}:{view.tokens[0].number}/complete")
        assert done.status_code == 200, done.text
        robots, adas = await key_of(desk, "robot"), await key_of(desk, "ada")
        asked = (await exported(desk, ada, "instances", begun["id"]))["asked"]
        told = [(each["who"], each["by_key"], each["what"]) for each in asked]
        assert told == [
            ("robot", robots, "InstanceStarted"),
            ("robot", robots, "Occurred"),
            ("ada", adas, "TaskCompleted"),
        ]


async def test_what_an_agent_asked_for_over_mcp_is_told_with_its_key(store_url: str) -> None:
    async with Perdure.open(store_url, definitions=load_text(VERBS)) as perdure:
        await perdure.runtime.recovered.wait()
        agent = Principal("default", "agent:bot", "agent", frozenset({"operator"}), via="key:k-7")
        made = await call_verb(tool_session(perdure, agent), CallVerb("desk.wait"))
        events = [each async for each in perdure.runbooks.events(made.id)]
        assert [(each.principal, each.key) for each in events if each.entry == "CallStarted"] == [("agent:bot", "k-7")]
