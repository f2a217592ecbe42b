"""Runbooks from the command line: planned, run, looked at, steered, with JSON and exit codes for scripts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

VERBS = """
- name: c.find
  sentences: {step: "Find {name}"}
  input_schema: {required: [name], properties: {name: {type: string}}}
  output_schema: {required: [id], properties: {id: {type: string}}}
  execution: {kind: sync, effects: none}
- name: c.wait
  execution: {kind: durable}
- name: c.fail
  execution: {kind: sync, effects: none}
"""
WORK = """
from perdure import BusinessError, verb
import os

@verb("c.find")
async def find(call):
    return {"id": "id of " + call.args["name"]}

@verb("c.fail")
async def fail(call):
    if not os.path.exists("mended"):
        raise BusinessError("NO", "it does not work")
    return {}
"""


class Project:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "perdure.yaml").write_text("definitions: [verbs.yaml]\nhandlers: [work]\n")
        (folder / "verbs.yaml").write_text(VERBS)
        (folder / "work.py").write_text(WORK)

    def program(self, text: str) -> str:
        (self.folder / "p.runbook").write_text(text)
        return "p.runbook"

    def __call__(self, *words: str, code: int = 0) -> Any:
        command = [sys.executable, "-m", "perdure", *words, "--json"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == code, (words, done.stdout, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line]
        return lines[-1] if lines else json.loads(done.stderr.splitlines()[-1])


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.req("P6", "X5", "X11")
def test_a_runbook_is_planned_run_extended_and_brought_to_its_end(project: Project) -> None:
    file = project.program("LET a = EXEC c.find(name: $who)\nLET w = EXEC c.wait() AFTER a")
    plan = project("runbook", "plan", file, "--var", "who=Ana")
    assert plan["waves"] == [["a"], ["w"]] and plan["steps"][0]["sentence"] == "Find Ana"
    view = project("run", file, "--var", "who=Ana", "--case", "A-7", "--open", "--confirm", plan["plan_hash"])
    assert (view["state"], view["progress"]) == ("parked", "1 of 2 steps complete, waiting for w")
    project("complete", f"{view['id']}:2", "--result", "{}")
    more = project.program("LET b = EXEC c.find(name: a.id)")
    grown = project("runbook", "extend", view["id"], more)
    assert [step["name"] for step in grown["steps"]] == ["a", "w", "b"]
    assert project("runbook", "diff", view["id"], "--at", "1")["added"] == ["b"]
    assert project("runbook", "seal", view["id"])["state"] == "completed"
    assert [each["id"] for each in project("runbook", "list", "--case", "A-7", "--state", "completed")] == [view["id"]]
    assert len(project("runbook", "show", view["id"], "--at", "1")["steps"]) == 2


@pytest.mark.req("P6", "X26")
def test_a_failed_runbook_exits_with_its_code_and_is_retried_skipped_or_cancelled(project: Project) -> None:
    file = project.program("LET f = EXEC c.fail()\nLET w = EXEC c.wait() AFTER f")
    view = project("run", file, code=1)
    assert (view["state"], view["steps"][0]["error"]["code"]) == ("failed", "NO")
    (project.folder / "mended").touch()
    assert project("runbook", "retry", view["id"], "f")["state"] == "parked"
    assert project("runbook", "cancel", view["id"], "--reason", "enough")["state"] == "cancelled"
    (project.folder / "mended").unlink()
    other = project("run", file, code=1)
    assert project("runbook", "skip", other["id"], "1", "--reason", "not needed")["state"] == "parked"


@pytest.mark.req("P6", "X10")
def test_a_program_with_faults_is_refused_with_all_of_them(project: Project) -> None:
    refused = project("run", project.program("LET a = EXEC c.fnd(name: 1)\nLET b = EXEC c.find()"), code=2)
    assert refused["error"]["code"] == "program.invalid" and len(refused["error"]["problems"]) >= 2


@pytest.mark.req("X12")
def test_a_program_without_a_decision_cannot_be_reevaluated_and_says_why(project: Project) -> None:
    told = project("run", project.program("EXEC c.wait()"), "--reevaluate", "always", code=2)
    assert "no step of it is one" in json.dumps(told)
