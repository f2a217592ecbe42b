"""Attacks through a real server, as somebody would play them who has a key and means harm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.commands import Shell
from tests.security.attacked_house import AttackedHouse, Caller

GRAVE = "vault.empty"
HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'
    ' targetNamespace="x"><message id="m" name="go"/>'
)
BOUND = '<extensionElements><zeebe:taskDefinition type="{}"/></extensionElements>'
TIMER = "<timerEventDefinition><timeDuration>PT0.01S</timeDuration></timerEventDefinition>"
MESSAGE = '<messageEventDefinition messageRef="m"/>'
pytestmark = pytest.mark.req("V36")


def around(verb: str = GRAVE, start: str = "") -> str:
    """A process of one task."""
    return (
        f'{HEAD}<process id="harmless" isExecutable="true"><startEvent id="s">{start}</startEvent>'
        f'<serviceTask id="t">{BOUND.format(verb)}</serviceTask><endEvent id="e"/>'
        '<sequenceFlow id="f" sourceRef="s" targetRef="t"/>'
        '<sequenceFlow id="g" sourceRef="t" targetRef="e"/></process></definitions>'
    )


def open_task(caller: Caller) -> dict[str, Any]:
    [task] = caller.get("/tasks")["items"]
    shown: dict[str, Any] = caller.get(f"/tasks/{task['key']}")
    return shown


@pytest.mark.both_stores
def test_an_agent_wraps_a_grave_verb_into_a_process_and_gets_nowhere(attacked_house: AttackedHouse) -> None:
    house, bot, anne = attacked_house, attacked_house.caller("agent:bot"), attacked_house.caller("anne")
    for profile, status in (("hollow", 422), ("open", 423)):
        for start in ("", TIMER, MESSAGE):
            bot.post("/processes", {"xml": around(start=start), "profile": profile}, status)
    bot.post("/instances", {"process": "harmless"}, 404)
    told = bot.post("/messages", {"name": "go"}, 202)
    assert told["outcome"] == "no_subscription"
    anne.post("/processes", {"xml": around(), "profile": "open"}, 201)
    asked = bot.post("/instances", {"process": "harmless"}, 423)
    agreed = {"confirm": asked["plan_hash"], "phrase": asked["phrase"]}
    bot.post("/instances", {"process": "harmless", **agreed}, 423)
    house.caller("robot").post("/instances", {"process": "harmless", **agreed}, 423)
    for path in ("/verbs/vault.move/calls", "/verbs/vault.empty/calls"):
        bot.post(path, {}, 423)
    bot.post("/runbooks", {"calls": [{"verb": "vault.move"}]}, 423)
    assert house.done(GRAVE) == []
    house.caller("olga").post("/instances", {"process": "harmless", **agreed, "until": "end"}, 201)
    assert [each["tenant"] for each in house.done(GRAVE)] == ["default"]


@pytest.mark.req("V37")
def test_a_reviewer_decides_no_other_case_than_the_one_of_the_task(attacked_house: AttackedHouse) -> None:
    house, olga, rita = attacked_house, attacked_house.caller("olga"), attacked_house.caller("rita")
    calls = [olga.post("/verbs/case.review/calls", {"args": {"case_id": case}}, 201)["id"] for case in ("C-1", "C-2")]
    tasks = [rita.get(f"/tasks/{each['key']}") for each in rita.get("/tasks")["items"]]
    task = next(each for each in tasks if each["known"] == {"case_id": "C-1"})
    assert list(task["form"]["properties"]) == ["decision"]
    stolen, key = {"case_id": "C-2", "decision": "yes"}, task["key"]
    refused = rita.post(f"/tasks/{key}/complete", {"data": stolen}, 422)
    assert [each["path"] for each in refused["errors"]] == ["$.case_id"]
    token = olga.post("/parked/token", {"key": key})["token"]
    house.holder(token).post("/completions", {"key": key, "result": stolen}, 403)
    house.caller("otto").post(f"/tasks/{key}/complete", {"data": {"decision": "yes"}}, 403)
    assert house.done("case.decide") == []
    rita.post(f"/tasks/{key}/complete", {"data": {"decision": "yes"}})
    assert olga.get(f"/calls/{calls[0]}", until="end")["state"] == "completed"
    assert [each["args"] for each in house.done("case.decide")] == [{"case_id": "C-1", "decision": "yes"}]


def test_the_other_tenant_neither_sees_nor_moves_anything(attacked_house: AttackedHouse) -> None:
    house, olga, spy, eve = attacked_house, *map(attacked_house.caller, ("olga", "agent:spy", "eve"))
    call = olga.post("/verbs/case.review/calls", {"args": {"case_id": "C-1"}}, 201)["id"]
    task = open_task(house.caller("rita"))
    for caller in (spy, eve):
        assert caller.get("/tasks")["items"] == caller.get("/instances")["items"] == caller.get("/calls")["items"] == []
        caller.get(f"/tasks/{task['key']}", 404)
        caller.get(f"/calls/{call}", 404)
        caller.post(f"/tasks/{task['key']}/complete", {"data": {"decision": "yes"}}, 404)
    # A process that is grave in one tenant is not there in the other.
    house.caller("anne").post("/processes", {"xml": around(), "profile": "open"}, 201)
    spy.post("/instances", {"process": "harmless"}, 404)
    spy.post("/processes", {"xml": around("pub.note"), "profile": "open"}, 201)
    spy.post("/instances", {"process": "harmless", "until": "end"}, 201)
    assert [each["tenant"] for each in house.done("pub.note")] == ["south"]
    assert house.done(GRAVE) == []


def test_a_narrow_key_gets_nowhere_beyond_its_verbs(attacked_house: AttackedHouse, tmp_path: Path) -> None:
    house, olga, pub = attacked_house, attacked_house.caller("olga"), attacked_house.caller("pub")
    call = olga.post("/verbs/case.review/calls", {"args": {"case_id": "C-1"}}, 201)["id"]
    task = open_task(house.caller("rita"))
    instance = task["key"].partition(":")[0]
    for path in ("/tasks", "/instances", "/calls", "/runbooks", "/parked", "/incidents", "/dead-letters", "/processes"):
        assert pub.get(path)["items"] == [], path
    for path in (f"/tasks/{task['key']}", f"/instances/{instance}/export", f"/calls/{call}/export"):
        pub.get(path, 403)
    for path, body in (
        ("/instances", {"process": "review"}),
        (f"/tasks/{task['key']}/claim", {}),
        (f"/instances/{instance}/cancel", {}),
        ("/parked/token", {"key": task["key"]}),
        ("/processes", {"xml": around("case.decide"), "profile": "open"}),
    ):
        pub.post(path, body, 403)
    asked = Shell(tmp_path)
    asked.environment |= {"PERDURE_SERVER": house.server.url, "PERDURE_KEY": house.key("pub")}
    assert asked.json("instances", "list") == asked.json("tasks", "list") == []
    assert "may only act on verbs" in " ".join(asked.run("instances", "cancel", instance, code=None).error.split())
    assert olga.get(f"/calls/{call}")["state"] == "parked"
    pub.post("/verbs/pub.note/calls", {"args": {"text": "x"}}, 201)
    assert len(house.done("pub.note")) == 1
