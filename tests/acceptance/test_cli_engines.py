"""Engines through the command line: what each is given, where processes begin and instances are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perdure.bpmn.xml import write_model
from tests.acceptance.commands import Shell
from tests.engines.embedded.process_models import line, user

VERBS = """
- {name: desk.ask, execution: {kind: durable, process: asks}}
- {name: desk.tell, execution: {kind: durable, process: tells}}
"""
CONFIG = """
store: perdure.db
definitions: [definitions]
engines:
  partners: {url: "camunda://127.0.0.1:1", ui: "https://operate.example.org"}
processes:
  tells: {engine: partners}
"""


@pytest.fixture
def office(tmp_path: Path) -> Shell:
    """A project with two processes, of which one begins at a cluster that nobody runs."""
    for folder in ("definitions", "models"):
        (tmp_path / folder).mkdir()
    (tmp_path / "perdure.yaml").write_text(CONFIG)
    (tmp_path / "definitions" / "desk.yaml").write_text(VERBS)
    for process in ("asks", "tells"):
        (tmp_path / "models" / f"{process}.bpmn").write_text(write_model(line(process, user("look"))))
    return Shell(tmp_path)


@pytest.mark.req("V13")
def test_engines_are_shown_where_work_begins_and_where_it_is(office: Shell) -> None:
    store, partners = office.json("engines")
    assert (store["name"], store["is_default"], store["reachable"]) == ("embedded", True, True)
    assert (partners["name"], partners["processes"], partners["reachable"]) == ("partners", ["tells"], False)
    assert "begins process tells" in office.run("engines").out
    office.run("deploy", "models/asks.bpmn")
    office.run("deploy", "models/tells.bpmn")
    assert {each["process"]: each["engine"] for each in office.json("processes", "list")} == {
        "asks": "embedded", "tells": "partners",
    }  # fmt: skip
    assert "begins on" in office.run("processes", "show", "tells").out
    assert office.json("processes", "show", "tells")["engine"] == "partners"
    (office.folder / "both.runbook").write_text("(desk.tell)\n(desk.ask)")
    planned = office.json("runbook", "plan", "both.runbook")
    assert [each.get("engine") for each in planned["steps"]] == ["partners", "embedded"]
    assert "on partners" in office.run("runbook", "plan", "both.runbook").out
    begun = json.loads(office.run("instances", "start", "asks", "--json").out)
    assert office.json("instances", "show", begun["id"])["engine"] == "embedded"


@pytest.mark.req("P9")
def test_a_name_that_stands_for_no_engine_is_told_with_its_place(office: Shell) -> None:
    file = office.folder / "perdure.yaml"
    file.write_text(CONFIG.replace("{engine: partners}", "{engine: partner}"))
    refused = office.run("engines", code=2).error
    assert "perdure.yaml:7:19" in refused and "no engine is named 'partner'" in refused
    assert "Did you mean 'partners'?" in refused
