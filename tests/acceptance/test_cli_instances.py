"""Instances from a terminal: begun, followed, paused, changed by hand, taken to another version, mended, stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.commands import Shell
from tests.acceptance.parcels import Parcel, make_parcels


@pytest.fixture
def desk(tmp_path: Path, store_url: str) -> Shell:
    shell = make_parcels(tmp_path, store_url)
    shell.run("deploy", "first.bpmn")
    return shell


def test_an_instance_is_begun_once_under_its_key_and_found_by_what_is_known_of_it(desk: Shell) -> None:
    words = ("instances", "start", "parcel", "--data", '{"number": "n-1"}', "--idempotency-key", "k")
    first = desk.json(*words, "--business-key", "order 1")
    assert desk.json(*words, "--business-key", "order 1")["id"] == first["id"]
    assert (first["state"], first["completed"], first["flags"]) == ("active", ["desk.pack"], {"orch_number": "n-1"})
    (wait,) = first["waits"]
    assert (wait["kind"], wait["name"], wait["key"]) == ("message", "parcel_paid", "n-1")
    other = Parcel(desk, "n-2")
    listed = [each["id"] for each in desk.json("instances", "list", "--process", "parcel", "--state", "active")]
    assert sorted(listed) == sorted([other.id, first["id"]])
    assert [each["id"] for each in desk.json("instances", "list", "--limit", "1", "--after", listed[0])] == listed[1:]
    assert [each["id"] for each in desk.json("instances", "list", "--business-key", "order 1")] == [first["id"]]
    assert desk.json("instances", "list", "--state", "completed") == []
    for kind, states in (("instances", "active, suspended, completed"), ("runbook", "draft, ready")):
        assert states in desk.run(kind, "list", "--state", "bogus", "--json", code=2).told["hint"]


WAITS_BY_A_FLAG = """<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
  id="orders" targetNamespace="test">
  <message id="paid" name="paid">
    <extensionElements><zeebe:subscription correlationKey="=orch_order" /></extensionElements>
  </message>
  <process id="order" isExecutable="true">
    <startEvent id="ordered"/>
    <receiveTask id="payment" messageRef="paid"/>
    <endEvent id="done"/>
    <sequenceFlow id="f1" sourceRef="ordered" targetRef="payment"/>
    <sequenceFlow id="f2" sourceRef="payment" targetRef="done"/>
  </process>
</definitions>
"""


def test_an_instance_begins_with_the_flags_it_is_given(desk: Shell) -> None:
    Path(desk.folder, "orders.bpmn").write_text(WAITS_BY_A_FLAG, encoding="utf-8")
    desk.run("deploy", "orders.bpmn", "--profile", "open")
    begun = desk.json("instances", "start", "order", "--flag", "orch_order=A7", "--flag", "orch_small=true")
    assert begun["flags"] == {"orch_order": "A7", "orch_small": True}
    assert [(wait["name"], wait["key"]) for wait in begun["waits"]] == [("paid", "A7")]
    assert desk.json("message", "correlate", "paid", "A7")["outcome"] == "correlated"
    assert desk.json("instances", "show", begun["id"])["state"] == "completed"
    late = desk.run("instances", "cancel", begun["id"], "--json", code=5)
    assert "to cancel instance" in late.told["message"] and "it is completed" in late.told["message"]


def test_a_list_of_instances_is_readable_on_eighty_columns(desk: Shell) -> None:
    parcel = Parcel(desk)
    task = parcel.pay()
    desk.environment["COLUMNS"] = "80"
    for words, kept in ((("instances", "list"), parcel.id), (("tasks", "list"), task)):
        shown = desk.run(*words).out
        assert kept in shown
        assert max(len(line.rstrip()) for line in shown.splitlines()) <= 80
    (line,) = [line for line in desk.run("instances", "list").out.splitlines() if parcel.id in line]
    assert "active" in line and "parcel v1" in line


def test_the_journal_of_an_instance_is_told_from_any_place_and_to_its_end(desk: Shell) -> None:
    parcel = Parcel(desk)
    events = desk.json("instances", "events", parcel.id)
    assert events[0]["entry"] == "InstanceStarted"
    assert "JobCompleted" in [each["entry"] for each in events]
    later = desk.json("instances", "events", parcel.id, "--after", "1")
    assert later == [each for each in events if each["sequence"] > 1]
    desk.run("instances", "cancel", parcel.id, "--reason", "lost")
    followed = desk.run("instances", "events", parcel.id, "--follow", "--json").out.splitlines()
    assert [json.loads(line)["entry"] for line in followed][-1] == "InstanceEnded"
    assert "InstanceEnded" in desk.run("instances", "events", parcel.id).out


def test_a_suspended_instance_takes_nothing_until_it_is_resumed(desk: Shell) -> None:
    parcel = Parcel(desk)
    assert desk.json("instances", "suspend", parcel.id, "--reason", "holiday")["state"] == "suspended"
    assert desk.json("instances", "suspend", parcel.id)["state"] == "suspended"
    assert desk.run("message", "publish", "parcel_paid", "n-1", "--json", code=1).json["outcome"] == "no_subscription"
    assert desk.json("instances", "resume", parcel.id, "--timers", "shift")["state"] == "active"
    assert desk.json("instances", "resume", parcel.id)["state"] == "active"
    parcel.pay()
    assert parcel.standing() == ["check"]


def test_tokens_and_flags_are_changed_by_hand_in_one_commit(desk: Shell) -> None:
    parcel = Parcel(desk)
    (token,) = parcel.shown()["tokens"]
    assert "nothing says how" in desk.run("instances", "modify", parcel.id, code=2).error
    shown = desk.json(
        "instances", "modify", parcel.id, "--cancel", str(token["number"]), "--start", "alarm",
        "--flag", "orch_number=n-9", "--reason", "paid in cash",
    )  # fmt: skip
    assert [each["element"] for each in shown["tokens"]] == ["alarm"]
    assert shown["flags"]["orch_number"] == "n-9"
    refused = desk.run("instances", "modify", parcel.id, "--start", "nowhere", code=None)
    assert refused.code in (2, 3)
    assert "nowhere" in refused.error


def test_an_instance_is_taken_to_another_version_and_back_after_a_dry_run(desk: Shell) -> None:
    parcel = Parcel(desk)
    parcel.pay()
    desk.run("deploy", "second.bpmn")
    words = ("instances", "migrate", parcel.id, "--version", "2", "--map", "check=look")
    dry = desk.json(*words, "--dry-run")
    assert dry["is_dry"]
    assert [(each["before"], each["after"]) for each in dry["moves"]] == [("check", "look")]
    assert parcel.shown()["version"] == 1
    assert "nothing was changed" in desk.run(*words, "--dry-run").out
    assert not desk.json(*words)["is_dry"]
    assert (parcel.shown()["version"], parcel.standing()) == (2, ["look"])
    assert desk.json("instances", "migrate", parcel.id, "--back", "--dry-run")["version"] == 1
    assert desk.json("instances", "migrate", parcel.id, "--back")["version"] == 1
    assert (parcel.shown()["version"], parcel.standing()) == (1, ["check"])
    assert "to migrate to" in desk.run("instances", "migrate", parcel.id, "--version", "7", code=3).error
    assert "OLD=NEW" in desk.run("instances", "migrate", parcel.id, "--map", "check", code=2).error


def shipping(desk: Shell) -> Parcel:
    """A parcel whose shipping is stuck."""
    parcel = Parcel(desk)
    desk.run("tasks", "complete", parcel.pay())
    assert desk.json("signal", "alarm") == {"name": "alarm", "reached": 1}
    (incident,) = parcel.shown()["incidents"]
    assert incident["code"] == "job.contract"
    return parcel


def test_an_instance_that_is_stuck_is_tried_again_once_it_is_mended(desk: Shell) -> None:
    parcel = shipping(desk)
    assert "needs a person" in desk.run("instances", "show", parcel.id).out
    assert "✗ stuck" in desk.run("instances", "list").out
    parcel.mend()
    shown = desk.json("instances", "retry", parcel.id, "--reason", "mended")
    assert (shown["state"], shown["data"]["shipped"]) == ("completed", True)
    assert "no open incident" in desk.run("instances", "retry", parcel.id, code=5).error


def test_an_instance_that_is_stuck_is_ended_by_hand(desk: Shell) -> None:
    parcel = shipping(desk)
    shown = desk.json("instances", "resolve", parcel.id, "--data", '{"shipped": true}', "--reason", "by bicycle")
    assert (shown["state"], shown["data"]["shipped"]) == ("completed", True)


def test_incidents_of_instances_are_listed_and_mended_where_those_of_calls_are(desk: Shell) -> None:
    parcel = shipping(desk)
    call = desk.json("call", "desk.send", "number=7", code=1)
    listed: list[Any] = desk.json("incidents", "list")
    assert {each["id"] for each in listed} == {parcel.id, call["id"]}
    shown = desk.run("incidents", "list").out
    assert all(word in shown for word in (parcel.id, call["id"], "parcel v1", "desk.send", "job.contract"))
    assert desk.json("incidents", "retry", call["id"], code=1)["waiting_for"]["kind"] == "incident"
    parcel.mend()
    assert desk.json("incidents", "retry", call["id"])["state"] == "completed"
    assert desk.json("incidents", "resolve", parcel.id, "--result", '{"shipped": true}')["state"] == "completed"
    assert desk.json("incidents", "list") == []


def test_a_stopped_instance_is_cancelled_and_stays_so(desk: Shell) -> None:
    parcel = Parcel(desk)
    shown = desk.json("instances", "cancel", parcel.id, "--reason", "lost")
    assert (shown["state"], shown["tokens"]) == ("cancelled", [])
    desk.run("instances", "suspend", parcel.id, code=5)
    assert desk.json("instances", "cancel", parcel.id)["state"] == "cancelled"
    assert desk.run("message", "correlate", "parcel_paid", "n-1", "--json", code=1).json["outcome"] == "no_subscription"
