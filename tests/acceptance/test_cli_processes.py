"""Processes from a terminal: deployed all or none, listed, shown, drawn, retired."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from perdure.bpmn.xml import read_model
from tests.acceptance.commands import PERDURE, Shell
from tests.acceptance.parcels import Parcel, make_parcels

UNKNOWN = "0" * 26


@pytest.fixture
def desk(tmp_path: Path) -> Shell:
    return make_parcels(tmp_path)


@pytest.mark.req("P6")
def test_a_model_is_deployed_with_its_warnings_told_shortly(desk: Shell) -> None:
    desk.environment["COLUMNS"] = "80"
    shown = desk.run("deploy", "first.bpmn").out
    assert "✓ parcel v1 deployed with 7 warnings" in shown
    assert shown.count("⚠") == 3
    assert "… and 4 more" in shown
    again = desk.json("deploy", "first.bpmn")
    assert [(each["process"], each["version"], each["is_new"]) for each in again] == [("parcel", 1, False)]
    assert "is deployed already" in desk.run("deploy", "first.bpmn").out


@pytest.mark.req("P6")
def test_a_refused_model_says_what_where_and_how_and_nothing_is_deployed(desk: Shell) -> None:
    refused = desk.run("deploy", "first.bpmn", "broken.bpmn", "--json", code=2)
    assert refused.out == ""
    problems = refused.told["problems"]
    assert all(each["file"] == "broken.bpmn" and each["line"] > 1 and each["hint"] for each in problems)
    words = desk.run("deploy", "first.bpmn", "broken.bpmn", code=2)
    assert f"broken.bpmn:{problems[0]['line']}:" in words.error
    assert problems[0]["code"] in words.error
    assert problems[0]["hint"] in words.error
    assert desk.json("processes", "list") == []


@pytest.mark.req("P6")
def test_a_folder_stands_for_the_models_in_it(desk: Shell) -> None:
    for number, folder in enumerate(("drawn", "drawn/more")):
        (desk.folder / folder).mkdir()
        text = (desk.folder / "first.bpmn").read_text(encoding="utf-8").replace('"parcel"', f'"parcel-{number}"')
        (desk.folder / folder / f"{number}.bpmn").write_text(text, encoding="utf-8")
    (desk.folder / "drawn" / "notes.txt").write_text("no model", encoding="utf-8")
    assert [each["process"] for each in desk.json("deploy", "drawn")] == ["parcel-0", "parcel-1"]
    (desk.folder / "empty").mkdir()
    assert "empty:1:1: model.unreadable: there is no model in it" in desk.run("deploy", "empty", code=2).error
    assert "no.bpmn:1:1: model.unreadable: there is no such file." in desk.run("deploy", "no.bpmn", code=2).error
    assert "empty:1:1: model.unreadable: it is a folder." in desk.run("prove", "empty", code=2).error


@pytest.mark.req("P6")
def test_a_deployed_process_is_listed_shown_and_printed_as_a_file_that_reads_back(desk: Shell) -> None:
    desk.run("deploy", "first.bpmn")
    desk.run("deploy", "second.bpmn")
    versions = desk.json("processes", "versions", "parcel")
    assert [(each["version"], each["status"], each["is_latest"]) for each in versions] == [
        (1, "active", False), (2, "active", True),
    ]  # fmt: skip
    assert [each["version"] for each in desk.json("processes", "list")] == [2]
    latest, first = desk.json("processes", "show", "parcel"), desk.json("processes", "show", "parcel", "--version", "1")
    assert {"id": "look", "kind": "user task", "name": "", "type": ""} in latest["elements"]
    assert {"id": "check", "kind": "user task", "name": "", "type": ""} in first["elements"]
    assert latest["bindings"]["desk.pack"]["verb"] == "desk.pack"
    printed = desk.run("processes", "show", "parcel", "--version", "1", "--xml").out
    model = read_model((desk.folder / "first.bpmn").read_bytes())
    assert read_model(printed).definitions.processes == model.definitions.processes
    assert "desk.pack" in desk.run("processes", "show", "parcel").out
    definitions = desk.folder / "definitions" / "desk.yaml"
    policy = "sub_verbs: [desk.ship], policy: {max_attempts: 3, base_delay: PT2S, max_delay: PT30S}"
    definitions.write_text(definitions.read_text().replace("sub_verbs: [desk.ship]", policy))
    desk.run("deploy", "models/sending.bpmn")
    assert desk.json("processes", "show", "sending")["bindings"]["desk.ship"]["policy"]["max_attempts"] == 3
    shown = " ".join(desk.run("processes", "show", "sending").out.replace("│", " ").split())
    assert "3 attempts, exponential from 2 s to 30 s" in shown


@pytest.mark.req("P6")
def test_a_retired_version_starts_nothing_and_a_deprecated_one_only_by_its_number(desk: Shell) -> None:
    desk.run("deploy", "first.bpmn")
    desk.run("deploy", "second.bpmn")
    told = desk.json("processes", "deprecate", "parcel", "--version", "2", "--reason", "too new")
    assert [each["status"] for each in told] == ["active", "deprecated"]
    start = ("instances", "start", "parcel", "--data", '{"number": "n"}')
    assert desk.json(*start)["version"] == 1
    assert desk.json(*start, "--version", "2")["version"] == 2
    desk.run("processes", "retire", "parcel", "--version", "1")
    assert "version 1 is retired" in desk.run(*start, "--version", "1", code=5).error
    assert "every version of it is retired" in desk.run(*start, code=3).error


@pytest.mark.req("P6")
def test_an_instance_is_drawn_with_its_state_on_it(desk: Shell) -> None:
    desk.run("deploy", "first.bpmn")
    parcel = Parcel(desk)
    picture = desk.run("draw", parcel.id, "-o", "-").out
    assert picture.startswith("<svg")
    assert "waiting for paid" in picture
    assert desk.run("draw", "first.bpmn", "-o", "-").out != picture
    told = desk.json("draw", parcel.id)
    assert Path(told["file"]).read_text() == picture
    assert (
        "no such" in desk.run("draw", UNKNOWN, code=3).error
        or "find instance" in desk.run("draw", UNKNOWN, code=3).error
    )


@pytest.mark.req("P6")
@pytest.mark.parametrize("line", ["perdure processes show pa", "perdure instances start pa"])
def test_the_shell_completes_ids_of_processes(desk: Shell, line: str) -> None:
    desk.run("deploy", "first.bpmn")
    assert "parcel" in completed(desk, line)


@pytest.mark.req("P6")
def test_the_shell_completes_ids_of_instances_and_offers_nothing_without_a_store(desk: Shell) -> None:
    assert completed(desk, "perdure instances show ").strip() in ("", "_files")
    assert not (desk.folder / "perdure.db").exists()
    desk.run("deploy", "first.bpmn")
    parcel = Parcel(desk)
    assert parcel.id in completed(desk, f"perdure instances show {parcel.id[:6]}")


def completed(desk: Shell, line: str) -> str:
    words = {"_PERDURE_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": line}
    environment = {**os.environ, **desk.environment, **words}
    return subprocess.run(
        [PERDURE], cwd=desk.folder, env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.req("P6", "V16")
def test_the_traceback_of_a_bug_is_shown_to_who_asks_for_it(desk: Shell) -> None:
    stuck = json.loads(desk.run("call", "desk.pack", "--json", code=1).out)
    assert stuck["waiting_for"]["code"] == "handler.bug"
    assert (
        "KeyError: 'number'" in stuck["waiting_for"]["text"]
        and "handlers/desk.py, line " in stuck["waiting_for"]["text"]
    )
    shown = desk.run("incidents", "traceback", stuck["id"]).out
    assert "Traceback (most recent call last)" in shown and 'call.args["number"]' in shown
    told = desk.json("incidents", "traceback", stuck["id"])
    assert (told["code"], told["place"], told["attempt"]) == ("handler.bug", 1, 1)
