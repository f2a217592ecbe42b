"""Tasks, messages and signals from a terminal, and every way to get them wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.commands import Shell
from tests.acceptance.parcels import Parcel, make_parcels

UNKNOWN = "0" * 26


@pytest.fixture
def desk(tmp_path: Path) -> Shell:
    shell = make_parcels(tmp_path)
    shell.run("deploy", "first.bpmn")
    return shell


@pytest.mark.req("P6")
def test_a_task_is_claimed_given_back_handed_on_and_completed_once(desk: Shell) -> None:
    parcel = Parcel(desk)
    task = parcel.pay()
    assert desk.json("tasks", "claim", task, "--as", "rita")["claimed_by"] == "rita"
    assert [each["key"] for each in desk.json("tasks", "list", "--mine", "--as", "rita")] == [task]
    assert desk.json("tasks", "list", "--mine", "--as", "otto") == []
    assert "'rita' has claimed it" in desk.run("tasks", "complete", task, "--as", "otto", code=6).error
    assert desk.json("tasks", "unclaim", task, "--as", "rita")["claimed_by"] == ""
    assert "nothing says to whom" in desk.run("tasks", "delegate", task, code=2).error
    handed = desk.json("tasks", "delegate", task, "--to", "otto", "--as", "rita")
    assert (handed["assignee"], handed["delegated_by"]) == ("otto", ["rita"])
    assert "nothing says to whom" in desk.run("tasks", "reassign", task, code=2).error
    assert "it is for otto" in desk.run("tasks", "reassign", task, "--to", "rita", "--as", "rita", code=7).error
    assert desk.json("tasks", "reassign", task, "--to-groups", "night", "--as", "otto")["groups"] == "night"
    assert [each["key"] for each in desk.json("tasks", "list", "--group", "night")] == [task]
    assert desk.json("tasks", "list", "--mine", "--as", "zoe", "--group", "day") == []
    assert [each["key"] for each in desk.json("tasks", "list", "--mine", "--as", "zoe", "--group", "night")] == [task]
    assert desk.json("tasks", "list", "--due") == []
    assert "night" in desk.run("tasks", "show", task).out
    stranger = desk.run("tasks", "complete", task, "--as", "rita", "--json", code=7)
    assert "it is for group night" in stranger.told["message"]
    pretender = desk.run("tasks", "complete", task, "--as", "rita", "--override", "quick", code=7)
    assert "only administrators" in pretender.error
    night = ("--as", "zoe", "--group", "night")
    done = desk.json("tasks", "complete", task, "--data", '{"checked": true}', "--id", "m-1", *night)
    assert (done["data"]["checked"], [each["element"] for each in done["tokens"]]) == (True, ["alarm"])
    assert desk.json("tasks", "list") == []
    assert "Nobody is asked for anything." in desk.run("tasks", "list").out
    assert "not open" in desk.run("tasks", "show", task, code=3).error
    assert "'zoe' has completed it" in desk.run("tasks", "complete", task, *night, code=5).error
    assert desk.json("tasks", "complete", task, "--data", '{"checked": true}', "--id", "m-1", *night)["id"] == parcel.id


@pytest.mark.req("P6", "V19")
def test_what_becomes_of_a_message_is_told_and_decides_the_exit_code(desk: Shell) -> None:
    early = ("message", "publish", "parcel_paid", "n-1", "--id", "m-1", "--ttl", "PT1H")
    assert desk.json(*early) == {"name": "parcel_paid", "key": "n-1", "outcome": "buffered"}
    assert desk.json(*early)["outcome"] == "duplicate"
    parcel = Parcel(desk)
    assert parcel.standing() == ["check"]
    lost = desk.run("message", "publish", "parcel_paid", "n-7", "--id", "m-2", code=1)
    assert "nobody waits for it" in lost.out
    assert [each["message_id"] for each in desk.json("dead-letters", "list")] == ["m-2"]
    Parcel(desk, "n-2"), Parcel(desk, "n-2")
    several = desk.run("message", "publish", "parcel_paid", "n-2", "--id", "m-3", "--json", code=1)
    assert several.json["outcome"] == "ambiguous"
    assert "taken by none" in desk.run("message", "correlate", "parcel_paid", "n-2", code=1).out


@pytest.mark.req("P6")
def test_a_dead_letter_for_a_process_is_delivered_again_to_one_of_several(desk: Shell) -> None:
    one, other = Parcel(desk, "n-2"), Parcel(desk, "n-2")
    desk.run("message", "publish", "parcel_paid", "n-2", "--id", "m-3", code=1)
    assert desk.json("dead-letters", "replay", "m-3", "--instance", other.id)["answer"] == "correlated"
    assert (one.standing(), other.standing()) == (["paid"], ["check"])


@pytest.mark.req("P6")
def test_a_signal_that_nobody_waits_for_says_so(desk: Shell) -> None:
    assert desk.json("signal", "alarm") == {"name": "alarm", "reached": 0}
    assert "nobody waits for 'alarm'" in desk.run("signal", "alarm").out


WRONG = {
    "unknown instance": (("instances", "show", UNKNOWN), 3, "instance"),
    "no id of an instance": (("instances", "show", "C-7"), 3, "not an id"),
    "unknown process": (("instances", "start", "nosuch"), 3, "perdure deploy"),
    "unknown process to show": (("processes", "show", "nosuch"), 3, "not deployed"),
    "unknown version": (("processes", "show", "parcel", "--version", "9"), 3, "no version 9"),
    "unknown version to retire": (("processes", "retire", "parcel", "--version", "9"), 3, "9"),
    "unknown process to retire": (("processes", "retire", "nosuch", "--version", "1"), 3, "nosuch"),
    "no JSON": (("instances", "start", "parcel", "--data", "{number"), 2, "not JSON"),
    "no object": (("instances", "start", "parcel", "--data", "[1]"), 2, "not an object"),
    "no object in a message": (("message", "publish", "m", "k", "--data", "1"), 2, "not an object"),
    "no object for a task": (("tasks", "complete", f"{UNKNOWN}:1", "--data", "1"), 2, "not an object"),
    "no duration": (("message", "publish", "m", "k", "--ttl", "soon"), 2, "'soon'"),
    "no flag": (("instances", "modify", UNKNOWN, "--flag", "orch_x"), 2, "OLD=NEW"),
    "no key of a task": (("tasks", "claim", "C-7"), 3, "no task's key"),
    "unknown task": (("tasks", "claim", f"{UNKNOWN}:1"), 3, UNKNOWN),
    "unknown model": (("deploy", "nosuch.bpmn"), 2, "nosuch.bpmn"),
    "unknown process of a model": (("deploy", "first.bpmn", "--process", "other"), None, "other"),
    "no such store": (("instances", "show", UNKNOWN, "--store", "sqlite:///no.db"), 3, "no such file"),
    "no such store for tasks": (("tasks", "show", f"{UNKNOWN}:1", "--store", "sqlite:///no.db"), 3, "no such file"),
}


@pytest.mark.req("P6", "P9")
def test_every_mistake_says_what_is_wrong_and_exits_with_its_code(desk: Shell) -> None:
    for name, (words, code, says) in WRONG.items():
        told = desk.run(*words, "--json", code=code)
        assert told.out == "", name
        assert says in told.told["message"] + told.told["hint"], (name, told.told)
        assert told.told["exit_code"] == told.code in (2, 3), (name, told)
    assert not (desk.folder / "no.db").exists()


@pytest.mark.req("V31")
def test_another_tenant_finds_nothing_of_it(desk: Shell) -> None:
    parcel = Parcel(desk)
    task = parcel.pay()
    other = ("--tenant", "other", "--json")
    lines = [("instances", word, parcel.id) for word in ("show", "events", "suspend", "resume", "cancel", "retry")]
    lines += [("tasks", word, task) for word in ("show", "claim", "unclaim", "complete")]
    lines += [("draw", parcel.id), ("processes", "show", "parcel"), ("instances", "migrate", parcel.id)]
    for words in lines:
        told = desk.run(*words, *other, code=3).told
        assert told["code"] == "rejected.not_found", words
        assert words[0] != "tasks" or "find task" in told["message"], told
    for words in (("instances", "list"), ("tasks", "list")):
        assert desk.run(*words, *other).json == []
    assert "parcel" not in [each["process"] for each in desk.run("processes", "list", *other).json]
    assert parcel.standing() == ["check"]
