"""The impact of a deployment from a terminal: told before it happens, with an exit code for a pipeline."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.commands import Shell
from tests.acceptance.parcels import FIRST, Parcel, make_parcels, xml

BESIDE = """
== parcel
start s
service pack desk.pack
and apart
receive paid message parcel_paid key=orch_number
user check
and both
service ship desk.ship
end e
s > pack > apart > paid > both > ship > e
apart > check > both
"""
"""What came after the payment comes beside it: who has paid already is waited for in vain."""


WIDE = """
== parcel
start s
service pack desk.pack
receive paid message parcel_paid key=orch_number
and apart
user check
user weigh
user label
and both
end e
s > pack > paid > apart > check > both > e
apart > weigh > both
apart > label > both
"""


@pytest.fixture
def desk(tmp_path: Path) -> Shell:
    shell = make_parcels(tmp_path)
    (shell.folder / "wide.bpmn").write_text(xml(WIDE))
    (shell.folder / "beside.bpmn").write_text(xml(BESIDE))
    (shell.folder / "shorter.bpmn").write_text(xml(FIRST.replace("user check\n", "").replace("> check >", ">")))
    return shell


@pytest.mark.req("P6", "O10")
def test_each_state_is_told_with_its_verdict_and_mapping_and_nothing_is_deployed(desk: Shell) -> None:
    desk.run("deploy", "first.bpmn")
    waiting, paid = Parcel(desk, "n-1"), Parcel(desk, "n-2")
    paid.pay()
    found = desk.json("deploy", "--check", "second.bpmn")
    (process,) = found["processes"]
    told = {each["examples"][0]: (each["verdict"], each["mapping"]) for each in process["states"]}
    assert told == {waiting.id: ("migrates", {}), paid.id: ("migrates", {"check": "look"})}
    assert (found["verdict"], found["is_decided"], process["is_deployed"]) == ("migrates", True, False)
    shown = " ".join(desk.run("deploy", "second.bpmn", "--check").out.split())
    assert "parcel under the new version: 2 running instances" in shown
    assert "--map check=look" in shown and "Nothing was changed." in shown
    assert len(desk.json("processes", "versions", "parcel")) == 1
    desk.run("deploy", "second.bpmn")
    desk.run("instances", "migrate", paid.id, "--map", "check=look")
    found = desk.json("deploy", "--check")
    assert [(each["verdict"], each["version"]) for each in found["processes"][0]["states"]] == [
        ("migrates", 1), ("goes_on", 2),
    ]  # fmt: skip


@pytest.mark.req("P6", "O10")
def test_a_pipeline_ends_with_one_when_something_must_stay_pinned(desk: Shell) -> None:
    desk.run("deploy", "first.bpmn")
    desk.run("deploy", "--check", "shorter.bpmn")
    paid = Parcel(desk)
    paid.pay()
    gone = desk.json("deploy", "--check", "shorter.bpmn", code=1)["processes"][0]["states"][0]
    assert (gone["verdict"], gone["element"]) == ("stays_pinned", "check")
    stuck = desk.json("deploy", "--check", "beside.bpmn", code=1)["processes"][0]["states"][0]
    assert (stuck["verdict"], stuck["code"], stuck["element"]) == ("stays_pinned", "SND001", "both")
    shown = " ".join(desk.run("deploy", "--check", "beside.bpmn", code=1).out.replace("│", " ").split())
    assert "✗ stays pinned" in shown and "then the person completes 'check'" in shown


@pytest.mark.req("P6", "O10")
def test_a_bound_ends_with_eleven_and_a_model_that_cannot_be_deployed_with_two(desk: Shell) -> None:
    desk.run("deploy", "first.bpmn")
    Parcel(desk)
    undecided = desk.json("deploy", "--check", "wide.bpmn", "--states", "2", code=11)
    assert desk.json("deploy", "--check", "wide.bpmn")["verdict"] == "migrates"
    assert (undecided["is_decided"], undecided["processes"][0]["states"][0]["bound"]) == (False, "states")
    refused = desk.run("deploy", "--check", "broken.bpmn", "--json", code=2)
    assert refused.told["problems"][0]["file"] == "broken.bpmn"
    assert "no model is named" in desk.run("deploy", code=2).error


@pytest.mark.req("P6", "O10")
def test_verbs_of_the_project_that_running_work_no_longer_finds_are_told(desk: Shell) -> None:
    desk.run("deploy", "first.bpmn")
    Parcel(desk)
    assert {each["verdict"] for each in desk.json("deploy", "--check")["verbs"]} == {"goes_on"}
    definitions = desk.folder / "definitions" / "desk.yaml"
    definitions.write_text(definitions.read_text().replace("- name: desk.pack\n", "- name: desk.pack\n  version: 2\n"))
    verbs = {each["verb"]: each for each in desk.json("deploy", "--check", code=1)["verbs"]}
    assert (verbs["desk.pack"]["verdict"], verbs["desk.ship"]["verdict"]) == ("stays_pinned", "goes_on")
    assert "version 1 of 'desk.pack' is not loaded any more" in verbs["desk.pack"]["reason"]


@pytest.mark.req("P6", "O10")
def test_where_there_is_no_store_nothing_runs_and_none_is_made(desk: Shell) -> None:
    found = desk.json("deploy", "--check", "first.bpmn")
    assert (found["verdict"], found["processes"][0]["instances"]) == ("goes_on", 0)
    assert not (desk.folder / "perdure.db").exists()


@pytest.mark.req("P6", "O10")
def test_without_verbs_of_its_own_a_project_does_not_call_those_of_others_gone(desk: Shell) -> None:
    desk.run("deploy", "first.bpmn")
    Parcel(desk)
    (desk.folder / "bare.yaml").write_text(f"store: sqlite:///{desk.folder / 'perdure.db'}\n")
    found = desk.json("deploy", "--check", "--config", "bare.yaml", code=11)
    assert (found["verbs"], found["verdict"], found["is_decided"]) == ([], "goes_on", False)
    assert "no verb is declared here" in found["bounds"][0]
