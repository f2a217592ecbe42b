"""What verify finds: drift, missing bodies, requests without waits, workflow code that a replay would not repeat."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from perdure.bpmn.lint.lint import lint
from perdure.bpmn.xml import read_model_file
from perdure.scaffold import Mismatch, scaffold, verify
from tests.scaffold.conftest import EXAMPLES, FilledProject
from tests.scaffold.model_changes import Changes


def codes(folder: Path) -> list[tuple[str, str]]:
    return [(each.code, each.path) for each in verify(folder).findings]


def only(folder: Path) -> Mismatch:
    found = verify(folder).findings
    assert len(found) == 1, found
    return found[0]


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """A filled project that verifies."""
    folder = FilledProject("gate", tmp_path / "p").folder
    assert verify(folder).findings == ()
    return folder


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


@pytest.mark.req("B6")
def test_a_new_project_lacks_its_bodies(tmp_path: Path) -> None:
    scaffold("temporal", EXAMPLES / "gate.bpmn", tmp_path)
    assert codes(tmp_path) == [
        ("AME070", "src/approve_claim/activities/claim_assess.py"),
        ("AME070", "src/approve_claim/activities/claim_decline.py"),
        ("AME070", "src/approve_claim/activities/claim_pay.py"),
        ("AME070", "src/approve_claim/gates.py"),
    ]


@pytest.mark.req("B6")
def test_a_change_by_hand_is_told_from_a_stale_file(gate: Path) -> None:
    change(gate / "src/approve_claim/generated/policies.py", "maximum_attempts=3", "maximum_attempts=99")
    found = only(gate)
    assert (found.code, found.path) == ("AME080", "src/approve_claim/generated/policies.py")
    assert "-        maximum_attempts=99," in found.diff
    assert "+        maximum_attempts=3," in found.diff
    change(gate / "src/approve_claim/generated/policies.py", "maximum_attempts=99", "maximum_attempts=3")
    change(gate / "bpmn/policies.yaml", "maximum_attempts: 3", "maximum_attempts: 4")
    assert codes(gate) == [
        ("AME081", "README.md"),
        ("AME081", "src/approve_claim/generated/policies.py"),
        ("AME083", "scaffold.lock.json"),
    ]
    scaffold("temporal", gate / "bpmn" / "gate.bpmn", gate)
    assert verify(gate).findings == ()


@pytest.mark.req("B6")
def test_a_lock_that_says_something_else_is_found(gate: Path) -> None:
    change(gate / "scaffold.lock.json", '"pay": "patient"', '"pay": "default"')
    assert only(gate).code == "AME083"


@pytest.mark.req("B6")
def test_missing_and_surplus_generated_files_are_found(gate: Path) -> None:
    (gate / "src/approve_claim/generated/runtime.py").unlink()
    (gate / "src/approve_claim/generated/mine.py").write_text("", "utf-8")
    assert codes(gate) == [
        ("AME082", "src/approve_claim/generated/runtime.py"), ("AME082", "src/approve_claim/generated/mine.py"),
    ]  # fmt: skip


@pytest.mark.req("B6")
def test_a_body_without_a_task_and_a_task_without_a_body_are_found(gate: Path) -> None:
    change(gate / "src/approve_claim/activities/claim_pay.py", 'name="claim.pay"', 'name="claim.repay"')
    assert codes(gate) == [
        ("AME070", "src/approve_claim/activities/claim_pay.py"),
        ("AME072", "src/approve_claim/activities/claim_pay.py"),
    ]


@pytest.mark.parametrize(
    ("head", "line", "what"),
    [
        ("import time", "time.time()", "a clock"),
        ("from datetime import datetime", "datetime.now()", "a clock"),
        ("import random as chance", "chance.random()", "chance"),
        ("from uuid import uuid4 as new_id", "new_id()", "chance"),
        ("import httpx", 'httpx.get("http://x")', "the network"),
        ("import threading", "threading.Thread()", "threads"),
        ("from concurrent.futures import ThreadPoolExecutor", "ThreadPoolExecutor()", "threads"),
        ("import os", 'os.environ["X"]', "the environment"),
        ("", 'open("x")', "a file"),
    ],
)
@pytest.mark.req("B6")
def test_workflow_code_that_a_replay_would_not_repeat_is_found(gate: Path, head: str, line: str, what: str) -> None:
    change(gate / "src/approve_claim/gates.py", "    if answer.decision", f"    {line}\n    if answer.decision")
    change(gate / "src/approve_claim/gates.py", "from approve_claim", f"{head}\nfrom approve_claim")
    found = only(gate)
    assert (found.code, what in found.fact) == ("AME073", True)
    assert (
        line.partition("(")[0].partition("[")[0] in (gate / found.path).read_text("utf-8").splitlines()[found.line - 1]
    )


@pytest.mark.req("B6")
def test_what_a_check_imports_from_the_project_is_workflow_code_as_well(gate: Path) -> None:
    (gate / "src/approve_claim/rules.py").write_text("import time\n\n\ndef now() -> float:\n    return time.time()\n")
    change(
        gate / "src/approve_claim/gates.py", "from approve_claim", "from approve_claim import rules\nfrom approve_claim"
    )
    assert only(gate).path == "src/approve_claim/rules.py"


def test_bodies_may_do_what_workflow_code_may_not(gate: Path) -> None:
    change(
        gate / "src/approve_claim/activities/claim_pay.py",
        "    with open",
        "    import time\n    time.time()\n    with open",
    )
    assert verify(gate).findings == ()


@pytest.mark.req("B6")
def test_a_request_without_its_wait_is_found(tmp_path: Path) -> None:
    Changes("linear").scaffold(tmp_path)
    model = tmp_path / "p" / "bpmn" / "linear.bpmn"
    model.write_text(Changes("linear").replace('"stock.reserve"', '"stock.request.reserve"').text, "utf-8")
    assert ("AME071", "bpmn/linear.bpmn") in codes(tmp_path / "p")


@pytest.mark.req("B6")
def test_lint_and_verify_say_the_same_of_requests(tmp_path: Path) -> None:
    """One rule: a wait somewhere behind the next step is the answer to none for both."""
    Changes("request-and-wait").scaffold(tmp_path)
    model = tmp_path / "p" / "bpmn" / "request-and-wait.bpmn"
    model.write_text(Changes("request-and-wait").add_task("audit", "ask_for_rendering", "rendering_done").text, "utf-8")
    told = [each for each in lint(read_model_file(model), profile="contract") if each.code == "AME071"]
    assert len(told) == 1
    found = [each for each in verify(tmp_path / "p").findings if each.code == "AME071"]
    assert [(each.line, each.hint, told[0].fact in each.fact) for each in found] == [(told[0].line, told[0].hint, True)]


@pytest.mark.req("B6")
def test_steps_without_a_marker_and_other_commands_are_refused_before_they_wedge_anything(gate: Path) -> None:
    model = gate / "bpmn" / "gate.bpmn"
    model.write_text(Changes("gate").add_task("audit", "assess", "approve").text, "utf-8")
    found = verify(gate).findings[0]
    assert (found.code, "'audit'" in found.fact) == ("AME084", True)
    model.write_text(Changes("gate").replace('type="claim.pay"', 'type="claim.settle"').text, "utf-8")
    found = verify(gate).findings[0]
    assert (found.code, "no marker" in found.fact) == ("AME084", True)


def test_findings_are_json_with_code_place_and_diff(gate: Path) -> None:
    change(gate / "src/approve_claim/generated/policies.py", "maximum_attempts=3", "maximum_attempts=99")
    command = [sys.executable, "-m", "perdure", "--json", "verify", str(gate)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    found = json.loads(done.stdout)["findings"]
    assert [each["code"] for each in found] == ["AME080"]
    assert "maximum_attempts=99" in found[0]["diff"]
