"""`perdure lifecycles`: one client from start to approval, as it is typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.commands import Shell
from tests.lifecycles.onboarding import LIFECYCLE, VERBS

HANDLERS = """
from perdure import verb

@verb("papers.ask")
def ask(call):
    return {}

@verb("risk.clear")
def clear(call):
    return {"holds": True}
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "perdure.yaml").write_text("definitions: [verbs.yaml]\nhandlers: [papers]\n")
    (tmp_path / "verbs.yaml").write_text(VERBS)
    (tmp_path / "papers.py").write_text(HANDLERS)
    (tmp_path / "lifecycles").mkdir()
    (tmp_path / "lifecycles" / "onboarding.yaml").write_text(LIFECYCLE.replace(", role: compliance", ""))
    return Shell(tmp_path)


@pytest.mark.req("T1")
@pytest.mark.req("T5")
def test_a_client_is_started_blocked_moved_and_approved(shell: Shell) -> None:
    begun = shell.json("lifecycles", "start", "onboarding", "c1")
    id = begun["instance"]["id"]
    assert (begun["is_new"], begun["instance"]["state"]) == (True, "INTAKE")
    assert shell.json("lifecycles", "start", "onboarding", "c1")["is_new"] is False
    shown = shell.json("lifecycles", "show", id)
    (blocker,) = shown["blockers"]
    assert blocker["resolution"]["text"] == '(papers.ask :client "c1" :paper "passport")'
    assert [each["status"] for each in shown["tasks"]] == ["pending"]
    assert [(each["target"], each["is_open"]) for each in shown["transitions"]] == [
        ("REVIEW", False),
        ("REJECTED", True),
        ("REJECTED", True),
    ]
    assert "MissingDocument passport" in shell.run("lifecycles", "show", id).out
    assert [each["subject"] for each in shell.json("lifecycles", "list", "--blocker", "passport")] == ["c1"]
    receipt = shell.json(
        "lifecycles", "complete-task", shown["tasks"][0]["correlation_id"], "--cargo", "entity://default/client/c1"
    )
    assert (receipt["answer"], receipt["task"]["status"]) == ("accepted", "completed")
    shell.json("call", "client.create", "id=c1", "passport=verified", "risk=low")
    moved = shell.json("lifecycles", "show", id)
    assert (moved["state"], moved["progress"], moved["blockers"]) == ("REVIEW", 75, [])
    assert [each["subject"] for each in shell.json("lifecycles", "list", "onboarding", "--state", "REVIEW")] == ["c1"]
    assert shell.json("lifecycles", "list", "onboarding", "--state", "INTAKE") == []
    assert shell.json("lifecycles", "list", "--blocker", "passport") == []
    told = " ".join(shell.run("lifecycles", "show", id).out.split())
    assert "began in INTAKE (start, by" in told
    assert "INTAKE → REVIEW (auto, by perdure)" in told
    svg = shell.json("lifecycles", "draw", id)["svg"]
    assert svg.index('class="present"') < svg.index(">REVIEW<") < svg.index(">APPROVED<")
    answer = shell.json("lifecycles", "transition", id, "APPROVED", "--reason", "fine")
    assert (answer["answer"], answer["instance"]["status"], answer["instance"]["progress"]) == (
        "moved",
        "completed",
        100,
    )
    entries = [each["entry"] for each in shell.json("lifecycles", "history", id)]
    assert entries[:2] == ["LifecycleStarted", "StateEntered"]
    assert entries[-2:] == ["StateEntered", "LifecycleEnded"]
    assert shell.json("audit", "verify")["findings"] == []


def test_a_migration_is_planned_and_then_done(shell: Shell) -> None:
    id = shell.json("lifecycles", "start", "onboarding", "c1")["instance"]["id"]
    file = shell.folder / "lifecycles" / "onboarding.yaml"
    file.write_text(file.read_text().replace("INTAKE", "COLLECT"))
    assert [each["version"] for each in shell.json("lifecycles", "definitions")] == [1]
    shell.json("lifecycles", "deploy", str(file))
    assert shell.json("lifecycles", "show", id)["version"] == 1
    assert "has no state 'INTAKE'" in shell.run("lifecycles", "migrate", id, "--dry-run", code=2).error
    plan = shell.json("lifecycles", "migrate", id, "--state", "COLLECT", "--dry-run")
    assert (plan["is_done"], plan["target_version"], len(plan["cancelled_tasks"])) == (False, 2, 1)
    assert shell.json("lifecycles", "show", id)["version"] == 1
    assert shell.json("lifecycles", "migrate", id, "--state", "COLLECT")["is_done"] is True
    shown = shell.json("lifecycles", "show", id)
    assert (shown["version"], shown["state"]) == (2, "COLLECT")
    assert [each["status"] for each in shown["tasks"]] == ["cancelled", "pending"]
    shell.run("lifecycles", "retire", "onboarding", "--version", "1", "--reason", "nobody uses it")
    assert [each["status"] for each in shell.json("lifecycles", "definitions")] == ["retired", "active"]
    assert "it has no version 7" in shell.run("lifecycles", "retire", "onboarding", "--version", "7", code=3).error


def test_lint_of_lifecycles_ends_with_one_when_there_are_errors(shell: Shell) -> None:
    assert shell.json("lifecycles", "lint") == {"lifecycles": 1, "problems": []}
    file = shell.folder / "lifecycles" / "onboarding.yaml"
    file.write_text(file.read_text().replace("papers.ask", "papers.aks"))
    wrong = shell.run("lifecycles", "lint", code=1).out
    assert "LIF130" in wrong
    assert "papers.ask" in wrong
