"""Runbooks from a terminal: planned, run, watched, grown, steered, taken back and handed on."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.commands import PERDURE, Shell
from tests.acceptance.pseudo_terminal import Terminal

VERBS = """
- name: club.greet
  sentences: {step: "Greet {name}"}
  input_schema: {required: [name], properties: {name: {type: string}}}
  output_schema: {required: [text], properties: {text: {type: string}}}
  execution: {kind: sync, effects: external, compensate: club.forget}
- name: club.forget
  input_schema: {properties: {name: {type: string}, text: {type: string}}}
  execution: {kind: sync, effects: external}
- name: club.invite
  consequence: requires_confirmation
  sentences: {step: "Invite {name}"}
  input_schema: {required: [name], properties: {name: {type: string}, letter: {type: string}}}
  output_schema: {required: [accepted], properties: {accepted: {type: boolean}}}
  execution: {kind: durable, correlation: {key: "invitation-$name"}, policy: {timeout: P9D}}
- name: club.flaky
  execution: {kind: sync, effects: external}
"""
HANDLERS = '''
"""The club's handlers; each writes down that it ran."""

from pathlib import Path

from perdure import BusinessError, verb


def note(call):
    with Path("ran.txt").open("a") as file:
        file.write(call.verb + "\\n")


@verb("club.greet")
def greet(call):
    note(call)
    return {"text": "Welcome, " + call.args["name"]}


@verb("club.forget")
def forget(call):
    note(call)
    return {}


@verb("club.flaky")
def flaky(call):
    note(call)
    if not Path("mended").exists():
        raise BusinessError("club.broken", "not today")
    return {}
'''
PROGRAM = """
LET hello = EXEC club.greet(name: $who)
LET answer = EXEC club.invite(name: $who, letter: hello.text)
IF answer.accepted THEN
    LET again = EXEC club.greet(name: "everyone") AFTER answer
END
"""


@pytest.fixture
def club(project_on_store: Shell) -> Shell:
    return furnished(project_on_store)


def furnished(shell: Shell) -> Shell:
    (shell.folder / "definitions" / "club.yaml").write_text(VERBS)
    (shell.folder / "handlers" / "club.py").write_text(HANDLERS)
    (shell.folder / "join.runbook").write_text(PROGRAM)
    return shell


def ran(shell: Shell) -> list[str]:
    return (shell.folder / "ran.txt").read_text().split()


def states(view: dict[str, object]) -> dict[str, str]:
    steps: list[dict[str, str]] = view["steps"]  # type: ignore[assignment]
    return {step["name"]: step["state"] for step in steps}


@pytest.mark.req("X6", "X7", "V24", "P6")
def test_a_runbook_waits_and_goes_on_in_another_process(club: Shell) -> None:
    waiting = club.json("run", "join.runbook", "--var", "who=Ana", "--case", "C-7")
    assert waiting["state"] == "parked"
    assert states(waiting) == {
        "hello": "completed", "answer": "parked", "choice": "pending", "again": "pending",
    }  # fmt: skip
    assert waiting["progress"].startswith("1 of 3 steps complete")
    assert [each["id"] for each in club.json("runbook", "list", "--case", "C-7")] == [waiting["id"]]
    club.json("complete", "invitation-Ana", "--result", '{"accepted": true}', "--id", "m-1")
    assert (
        club.json("complete", "invitation-Ana", "--result", '{"accepted": true}', "--id", "m-1")["answer"]
        == "duplicate"
    )
    done = club.json("runbook", "show", waiting["id"])
    assert (done["state"], set(states(done).values())) == ("completed", {"completed"})
    assert ran(club) == ["club.greet", "club.greet"]
    assert "Greet everyone" in club.run("runbook", "show", waiting["id"]).out


@pytest.mark.req("X10")
def test_the_other_branch_is_skipped(club: Shell) -> None:
    id = club.json("run", "join.runbook", "--var", "who=Bo")["id"]
    club.json("complete", "invitation-Bo", "--result", '{"accepted": false}')
    done = club.json("runbook", "show", id)
    assert (done["state"], states(done)["again"]) == ("completed", "skipped")
    assert ran(club) == ["club.greet"]


@pytest.mark.req("X10")
def test_a_wrong_program_is_shown_with_its_file_and_runs_nothing(club: Shell) -> None:
    told = club.run("run", "join.runbook", code=2).error
    assert "join.runbook:2:" in told and "--var who=VALUE" in told and "^" in told
    (club.folder / "wrong.runbook").write_text("EXEC club.greeet(name: 1)\nEXEC club.invite(nam: x.y)\n")
    told = club.run("runbook", "plan", "wrong.runbook", code=2).error
    assert told.count("wrong.runbook:") >= 3 and "club.greet" in told
    assert not (club.folder / "ran.txt").exists()


@pytest.mark.req("X11")
def test_a_plan_is_told_grown_compared_and_exported(club: Shell) -> None:
    club.run("db", "upgrade")  # looking makes no store
    plan = club.json("runbook", "plan", "join.runbook", "--var", "who=Cy")
    assert (plan["tier"], plan["waves"][0]) == ("requires_confirmation", ["hello"])
    waiting = club.json("run", "join.runbook", "--var", "who=Cy", "--confirm", plan["plan_hash"])
    (club.folder / "more.lisp").write_text("(club.greet :name @hello.text :as @more)\n")
    grown = club.json("runbook", "extend", waiting["id"], "more.lisp")
    assert states(grown)["more"] == "completed"
    assert grown["plan_hash"] != waiting["plan_hash"] == plan["plan_hash"]
    change = json.dumps(club.json("runbook", "diff", waiting["id"], "--at", "1"))
    assert "more" in change
    club.json("runbook", "export", waiting["id"], "-o", "join.json")
    assert club.json("audit", "verify", "join.json")["ok"]
    assert club.json("audit", "verify")["ok"]


@pytest.mark.req("X19", "X26")
def test_failures_are_retried_or_skipped_and_what_was_done_is_taken_back(club: Shell) -> None:
    (club.folder / "f.runbook").write_text(
        'LET a = EXEC club.greet(name: "A")\nLET b = EXEC club.flaky() AFTER a\nEXEC club.greet(name: "C") AFTER b\n'
    )
    failed = club.json("run", "f.runbook", code=1)
    assert (failed["state"], states(failed)["b"]) == ("failed", "failed")
    (club.folder / "mended").touch()
    done = club.json("runbook", "retry", failed["id"], "b")
    assert (done["state"], ran(club)) == ("completed", ["club.greet", "club.flaky", "club.flaky", "club.greet"])
    club.json("runbook", "compensate", failed["id"])
    assert ran(club)[-2:] == ["club.forget", "club.forget"]
    assert "zzz" in club.run("runbook", "skip", failed["id"], "zzz", "--reason", "x", code=3).error


@pytest.mark.req("X18", "V23")
def test_a_cancelled_case_answers_nobody(club: Shell) -> None:
    ids = [club.json("run", "join.runbook", "--var", f"who={who}", "--case", "C-9")["id"] for who in ("Di", "Ed")]
    assert {each["state"] for each in club.json("runbook", "cancel", "--case", "C-9")} == {"cancelled"}
    late = club.json("complete", "invitation-Di", "--result", '{"accepted": true}', code=12)
    assert late["answer"] == "late"
    assert {club.json("runbook", "show", id)["state"] for id in ids} == {"cancelled"}
    assert ran(club) == ["club.greet", "club.greet"]


@pytest.mark.req("V28")
def test_a_grave_plan_is_agreed_to_at_a_terminal(project: Shell) -> None:
    club = furnished(project)
    command = [str(PERDURE), "run", "join.runbook", "--var", "who=Fe"]
    with Terminal(command, club.folder) as terminal:
        terminal.until("Run it?")
        assert terminal.left("") == 1
    assert club.json("runbook", "list") == []
    with Terminal(command, club.folder) as terminal:
        terminal.until("Run it?")
        assert terminal.left("y") == 0
        assert "parked" in terminal.everything
    assert ran(club) == ["club.greet"]
