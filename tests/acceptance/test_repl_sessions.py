"""Conversations that outlast a terminal: leaving, coming back, other people, other programs, interrupts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.acceptance.commands import Shell
from tests.surfaces.repl.terminal_project import opened_firm, talking


@pytest.fixture
def firm(tmp_path: Path) -> Path:
    opened_firm(tmp_path)
    return tmp_path


def runbook_in(shown: str) -> str:
    """The id a runbook is kept under."""
    return re.findall(r"\b01[0-9a-z]{24}\b", shown)[-1]


@pytest.mark.req("V28")
def test_one_leaves_in_the_middle_of_a_question_and_comes_back(firm: Path) -> None:
    with talking(firm) as terminal:
        terminal.opened()
        terminal.tell("kyc-case", "Nordlys")
        id = runbook_in(terminal.tell("status"))
        assert terminal.left() == 0
    with talking(firm) as terminal:
        shown = terminal.opened()
        assert "Open runbooks" in shown
        assert id in shown
        assert "New client, periodic review or event driven?" in terminal.tell("resume 1")
        terminal.tell("periodic review", "edit 2 priority 3")
    with talking(firm, "--resume", id) as terminal:
        assert "Is that right?" in terminal.opened()
        assert "priority" in terminal.tell("why 2")
        assert "Undone" in terminal.tell("undo")
        assert "priority" not in terminal.tell("why 2")
        assert "2 of 2 steps complete" in terminal.tell("yes", "run", "y")


@pytest.mark.req("V28")
def test_a_run_that_waits_is_watched_from_one_terminal_and_answered_from_elsewhere(firm: Path) -> None:
    with talking(firm) as terminal:
        terminal.opened()
        terminal.tell("kyc-case", "Nordlys", "", "yes", "run")
        shown = terminal.tell("y")
        assert "2 of 3 steps complete, waiting for" in shown
        assert "doc-C-1-passport" in shown.replace("\n", "")
        terminal.keys(b"watch\r")
        terminal.until("Watching")
        terminal.interrupt()
        terminal.until("goes on without you")
        terminal.keys(b"watch\r")
        terminal.until("Watching")
        Shell(firm).run("complete", "doc-C-1-passport", "--result", '{"received": true}')
        assert "3 of 3 steps complete" in terminal.until("3 of 3 steps complete")


@pytest.mark.req("V20", "V28")
def test_who_asked_cannot_agree_at_their_own_gate_and_somebody_else_can(firm: Path) -> None:
    with talking(firm) as terminal:
        terminal.opened()
        shown = terminal.tell('(ubo.discover :client "Nordlys" :as @owners :gate "reviewers")')
        assert "needs the agreement of reviewers" in shown
        shown = terminal.tell("yes", "run")
        assert "waits for reviewers to agree" in shown
        assert "Someone else must answer." in " ".join(terminal.tell("approve 1").split())
        id = runbook_in(terminal.tell("status"))
        assert terminal.left() == 0
    with talking(firm, "--resume", id, "--as", "bo") as terminal:
        terminal.opened()
        assert "1 of 1 step complete" not in terminal.tell("approve 1")
    with talking(firm, "--resume", id, "--as", "bo", "--group", "reviewers") as terminal:
        assert "Agree to: Find the owners of Nordlys" in terminal.opened()
        assert "1 of 1 step complete" in terminal.tell("approve 1")


@pytest.mark.req("V28")
def test_a_conversation_over_a_pipe_leaves_the_same_behind(firm: Path) -> None:
    lines = "book-setup name=ALPHA currency=EUR desk=rates\nyes\nrun\nquit\n"
    done = Shell(firm).run("repl", text=lines)
    assert "3 of 3 steps complete" in done.out
    assert Shell(firm).run("audit", "verify").code == 0


@pytest.mark.req("V20", "V28")
def test_a_parked_task_is_claimed_and_answered_by_the_person_it_is_for(firm: Path) -> None:
    with talking(firm) as terminal:
        terminal.opened()
        terminal.tell("kyc.review", "Nordlys", "yes")
        shown = terminal.tell("run")
        assert "0 of 1 step complete" in shown
        assert "Have the case of Nordlys Capital A/S reviewed" in shown
        assert "reviewers" in shown
        assert "1 of 1 step complete" not in terminal.tell('answer 1 {"approved": true}')
        id = runbook_in(terminal.tell("status"))
    with talking(firm, "--resume", id, "--as", "bo", "--group", "reviewers") as terminal:
        terminal.opened()
        assert "is yours now" in terminal.tell("claim 1")
        assert "Is it approved?" in terminal.tell("answer 1")
        assert "neither yes nor no" in terminal.tell("perhaps")
        assert "Comment?" in terminal.tell("yes")
        assert "1 of 1 step complete" in terminal.tell("all in order")


@pytest.mark.req("V20", "V28")
def test_a_wait_for_the_world_outside_is_not_ended_by_approving_or_rejecting(firm: Path) -> None:
    with talking(firm) as terminal:
        terminal.opened()
        terminal.tell("kyc-case", "Nordlys", "", "yes", "run")
        shown = terminal.tell("y")
        assert "Waiting for people" in shown and "'approve" not in shown
        for word in ("approve 1", "reject 1 because so"):
            assert "'answer 1' answers it" in " ".join(terminal.tell(word).split())
    assert "doc-C-1-passport" in str(Shell(firm).json("parked"))


@pytest.mark.req("V28")
def test_engines_are_listed_with_the_one_that_is_away(firm: Path) -> None:
    with (firm / "perdure.yaml").open("a") as file:
        file.write('\nengines: {partners: "camunda://127.0.0.1:1"}\n')
    with talking(firm) as terminal:
        terminal.opened()
        shown = terminal.tell("engines")
        assert all(word in shown for word in ("embedded", "this store", "reachable", "partners", "away"))
        assert terminal.left() == 0
