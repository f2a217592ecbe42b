"""Every command, once for people and once for machines."""

from __future__ import annotations

import json
import shlex
import sqlite3
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from typer import Typer
from typer.main import get_command

from perdure.bpmn.xml import write_model
from perdure.store.migrations import newest
from perdure.surfaces.cli.application import application
from tests.acceptance.commands import Shell
from tests.engines.embedded.process_models import line as sequence
from tests.engines.embedded.process_models import user

pytestmark = pytest.mark.req("P6")


def test_a_new_project_works_and_overwrites_nothing(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shown = shell.run("init", "mine")
    assert "cd mine" in shown.out
    refused = shell.run("init", "mine", code=2)
    assert "already there" in refused.error
    told = Shell(tmp_path).json("init", "yours")
    assert "definitions/kyc.yaml" in told["files"]
    inside = Shell(tmp_path / "yours")
    for line in told["next"]:
        inside.run(*shlex.split(line)[1:])
    assert inside.json("verbs", "lint") == {"verbs": 2, "problems": []}


def test_the_release_is_told_wherever_one_stands(tmp_path: Path) -> None:
    assert Shell(tmp_path).run("--version").out.strip() == f"perdure {version('perdure')}"


def test_a_line_builds_its_own_command_and_help_all_of_them() -> None:
    everything: Any = get_command(application())
    for path, command in _commands(everything):
        alone: Any = get_command(application(path))
        for name in path:
            assert list(alone.commands) == [name]
            alone = alone.commands[name]
        assert [each.name for each in alone.params] == [each.name for each in command.params]
    assert list(get_command(application(["nonsense"])).commands) == list(everything.commands)  # type: ignore[attr-defined]
    assert list(_named(application(["verbs", "--help"]), "verbs")) == list(everything.commands["verbs"].commands)


def _commands(group: Any) -> list[tuple[list[str], Any]]:
    """Every command below a group with the words that name it."""
    if not hasattr(group, "commands"):
        return [([], group)]
    return [([name, *path], found) for name, each in group.commands.items() for path, found in _commands(each)]


def _named(app: Typer, name: str) -> Any:
    everything: Any = get_command(app)
    return everything.commands[name].commands


def test_verbs_are_listed_shown_and_searched_without_a_store(project: Shell) -> None:
    assert "kyc.check-name" in project.run("verbs", "list").out
    names = [each["name"] for each in project.json("verbs", "list")]
    assert names == ["desk.fail", "desk.stuck", "desk.wait", "kyc.check-name", "kyc.request-document"]
    shown = project.run("verbs", "show", "kyc.request-document").out
    for word in ("Request the {document}", ":document", "one of passport", "14 days", "durable", "reviewable"):
        assert word in shown
    told = project.json("verbs", "show", "kyc.request-document")
    assert told["input_schema"]["required"] == ["case", "document"]
    assert told["execution"]["timeout_seconds"] == 14 * 86400
    assert project.json("verbs", "search", "watch", "list")[0]["name"] == "kyc.check-name"
    assert "kyc.check-name" in project.run("verbs", "search", "screen a client").out
    assert not (project.folder / "perdure.db").exists()


def test_lint_exits_1_on_errors_only(project: Shell) -> None:
    warned = project.json("verbs", "lint")
    assert {each["severity"] for each in warned["problems"]} == {"warning"}
    project.run("verbs", "lint", "--strict", code=1)
    (project.folder / "definitions" / "bad.yaml").write_text("- name: desk.bad\n  exekution: {kind: sync}\n")
    told = project.json("verbs", "lint", code=1)
    assert told["problems"][0]["line"] == 2
    assert "Did you mean 'execution'?" in project.run("verbs", "lint", code=1).out


def test_a_verb_whose_process_no_model_holds_is_told_with_the_one_it_may_mean(project: Shell) -> None:
    (project.folder / "definitions" / "sent.yaml").write_text(
        "- {name: desk.send, execution: {kind: durable, process: sendin}}"
    )
    assert "unknown_process" not in project.run("verbs", "lint").out, "a project without models brings them elsewhere"
    (project.folder / "models").mkdir()
    (project.folder / "models" / "sending.bpmn").write_text(write_model(sequence("sending", user("look"))))
    (told,) = [each for each in project.json("verbs", "lint")["problems"] if each["code"] == "lint.unknown_process"]
    assert (told["field"], told["hint"]) == ("desk.send execution.process", "Did you mean 'sending'?")


@pytest.mark.parametrize(
    ("text", "line", "says"), [("\nimport no_such_package", 2, "no_such_package"), ("\n\ndef (", 3, "invalid syntax")]
)
def test_a_module_that_cannot_be_imported_is_told_with_its_file_and_line(
    project: Shell, text: str, line: int, says: str
) -> None:
    file = project.folder / "handlers" / "broken.py"
    file.write_text(text)
    told = project.run("call", "(desk.wait)", code=2).error
    assert f"{file}:{line}:" in told and says in told


def test_progress_and_cancel_are_shown(project: Shell) -> None:
    id = project.json("call", "(desk.wait)")["id"]
    assert "half way" in project.run("progress", id, "half way").out
    assert project.json("progress", id, "nearly there")["call"]["progress"] == "nearly there"
    assert "nearly there" in project.run("parked").out
    assert project.json("cancel", id, "--reason", "not needed")["state"] == "cancelled"
    assert "cancelled" in project.run("status", id).out
    shown = project.run("events", id).out
    assert "Cancelled" in shown
    assert "CallCancelled" in project.run("events", id, "--journal").out
    assert "not needed" in shown
    other = project.json("call", "(desk.wait)")["id"]
    assert "cancelled" in project.run("cancel", other).out


def test_following_ends_with_the_call(project: Shell) -> None:
    id = project.json("call", '(kyc.check-name :name "Ana")')["id"]
    lines = [json.loads(line) for line in project.run("events", id, "--follow", "--json").out.splitlines()]
    assert [each["text"] for each in lines] == ["StepStarted", "ExecutionResult(ok)"]
    assert lines == project.json("events", id)
    assert project.json("events", id, "--after", lines[0]["cursor"]) == lines[1:]
    assert "ExecutionResult(ok)" in project.run("events", id, "-f").out
    entries = project.run("events", id, "--follow", "--json", "--journal").out.splitlines()
    assert [json.loads(each) for each in entries] == project.json("events", id, "--journal")
    assert "StepCompleted" in project.run("events", id, "-f", "--journal").out
    assert project.run("events", id, "--journal", "--after", "x", "--json", code=2).told["code"] == "rejected.invalid"


def test_calls_are_found_by_their_index(project: Shell) -> None:
    id = project.json("call", '(desk.wait :who "Ana")')["id"]
    assert id in project.run("find", "desk.wait", "who=Ana").out
    assert project.json("find", "desk.wait", "who=Eva") == []
    assert "No such call." in project.run("find", "desk.wait", "who=Eva").out


def test_a_correction_needs_two_people(project: Shell) -> None:
    id = project.json("call", '(desk.wait :who "Ana")')["id"]
    proposed = project.json("amend", id, "--data", '{"who": "Anna"}', "--reason", "a typo")
    assert proposed["amendments"][0]["approved_by"] == ""
    assert "a typo" in project.run("status", id).out
    project.run("amend", id, "--approve", "1", code=7)
    approved = project.json("amend", id, "--approve", "1", "--as", "eva")
    assert approved["args"] == {"who": "Anna"}
    assert project.json("find", "desk.wait", "who=Anna")[0]["id"] == id


def test_an_incident_is_shown_retried_and_resolved(project: Shell) -> None:
    first = project.json("call", "(desk.stuck)", code=1)
    assert first["waiting_for"]["kind"] == "incident"
    assert "needs a person" in project.run("call", "(desk.stuck)", code=1).out
    assert "mended" in project.run("incidents", "list").out
    second = next(each["id"] for each in project.json("incidents", "list") if each["id"] != first["id"])
    project.run("incidents", "retry", first["id"], code=1)
    (project.folder / "mended").touch()
    assert project.json("incidents", "retry", first["id"])["state"] == "completed"
    resolved = project.run("incidents", "resolve", second, "--result", '{"mended": false}', "--reason", "by hand")
    assert "completed" in resolved.out
    assert project.json("incidents", "list") == []
    assert "Nothing needs a person." in project.run("incidents", "list").out
    (project.folder / "mended").unlink()
    third = project.json("call", "(desk.stuck)", code=1)["id"]
    assert project.json("incidents", "resolve", third, "--error", "given up")["state"] == "failed"


def test_dead_letters_are_replayed_under_the_right_key_or_discarded(project: Shell) -> None:
    assert "No dead letters." in project.run("dead-letters", "list").out
    id = project.json("call", "(desk.wait)")["id"]
    lost = project.json("complete", "no-such-key", "--result", "{}", code=1)
    assert lost["answer"] == "dead_letter"
    again = project.run("complete", "another", "--result", "{}", "--id", "m-2", code=1)
    assert "dead-letters replay m-2" in again.out
    assert [each["key"] for each in project.json("dead-letters", "list")] == ["no-such-key", "another"]
    assert "no-such-key" in project.run("dead-letters", "list").out
    replayed = project.json("dead-letters", "replay", lost["message_id"], "--key", id)
    assert (replayed["answer"], replayed["call"]["state"]) == ("applied", "completed")
    project.run("dead-letters", "replay", "m-2", code=6)
    assert "discarded" in project.run("dead-letters", "discard", "m-2", "--reason", "spam").out
    assert project.json("dead-letters", "list") == []


def test_erased_data_is_gone_and_the_history_stays(project: Shell) -> None:
    id = project.json("call", '(kyc.check-name :name "Ana")')["id"]
    other = project.json("call", '(kyc.check-name :name "Eva")')["id"]
    erased = project.json("erase", id, "--reason", "asked to be forgotten")
    assert (erased["args"], erased["result"]) == (None, None)
    assert "erased" in project.run("erase", other, "--reason", "also").out
    assert project.json("audit", "verify")["ok"]


@pytest.mark.req("P8")
def test_a_backup_is_restored_elsewhere_with_everything_in_it(project: Shell) -> None:
    id = project.json("call", "(desk.wait)")["id"]
    assert "written to" in project.run("db", "backup", "one.backup").out
    told = project.json("db", "backup", "two.backup")
    assert told["bytes"] > 0
    project.run("db", "backup", "one.backup", code=4)
    project.run("db", "restore", "one.backup", "--store", "sqlite:///restored.db")
    assert project.json("db", "restore", "two.backup", "--store", "sqlite:///again.db")["store"].endswith("again.db")
    assert project.json("status", id, "--store", "sqlite:///restored.db")["state"] == "parked"
    project.run("db", "restore", "one.backup", code=4)
    assert project.json("status", id)["state"] == "parked"


def test_the_store_is_upgraded_and_checked(project: Shell) -> None:
    assert "newest" in project.run("db", "upgrade").out
    assert project.json("db", "upgrade")["dialect"] == "sqlite"
    assert "quarantined" in project.run("db", "check").out
    told = project.json("db", "check")
    assert (told["quarantined"], told["method"], told["findings"]) == (0, "integrity_check", [])


@pytest.mark.req("P7", "P8")
def test_a_check_finds_what_an_index_hides_and_never_changes_the_schema(project: Shell) -> None:
    project.run("db", "upgrade")
    file = project.folder / "perdure.db"
    with sqlite3.connect(file) as connection:
        connection.execute("DROP INDEX inbox_dead")
    told = project.json("db", "check", code=9)
    assert told["findings"] == ["the schema lacks 'inbox_dead'"]
    assert "inbox_dead" in project.run("db", "check", code=9).out
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 6")
    told = project.json("db", "check", code=9)
    assert (told["schema"], told["newest_schema"]) == (6, newest("sqlite")) and "rows" not in told
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (6,)


@pytest.mark.req("P7")
def test_a_lost_seal_key_is_replaced_by_a_command_and_never_in_silence(project: Shell) -> None:
    project.run("call", "(desk.wait)")
    project.run("audit", "seal")
    (key,) = project.folder.glob("*.seal.key")
    key.unlink()
    project.run("call", "(desk.wait)")
    assert "rotate-key" in project.run("audit", "seal", code=6).error
    assert not key.exists()
    assert not project.json("audit", "rotate-key", "--reason", "lost")["signed_by_previous"]
    assert project.json("audit", "seal")["seals"] == 1
    assert project.json("audit", "verify", "--require-sealed")["ok"]
    assert project.json("audit", "rotate-key", "--reason", "yearly")["signed_by_previous"]
    assert "is in force, signed by the key before it" in project.run("audit", "rotate-key", "--reason", "again").out


@pytest.mark.req("P7")
def test_audits_speak_to_people_too(project: Shell) -> None:
    id = project.json("call", "(desk.wait)")["id"]
    assert "1 new seal" in project.run("audit", "seal").out
    shown = project.run("audit", "verify").out
    assert "All is as it was written" in shown
    anchor = next(word for word in shown.split() if word.startswith("1:"))
    assert project.json("audit", "verify", "--anchor", anchor, "--quick")["ok"]
    assert not project.json("audit", "verify", "--anchor", "1:" + "0" * 64, code=9)["ok"]
    assert "1 call written" in project.run("audit", "export", id, "--out", "export").out
    document = project.folder / "export" / f"{id}.json"
    assert "is whole" in " ".join(project.run("audit", "verify", str(document)).out.split())  # paths differ in length
    document.write_bytes(document.read_bytes().replace(b"desk.wait", b"desk.wake", 1))
    assert "✗" in project.run("audit", "verify", str(document), code=9).out


@pytest.mark.req("P7")
def test_one_changed_byte_is_found_and_named(project: Shell) -> None:
    id = project.json("call", '(desk.wait :who "Ana Lund")')["id"]
    file = project.folder / "perdure.db"
    data = file.read_bytes()
    assert data.count(b'{"who":"Ana Lund"}') == 1
    file.write_bytes(data.replace(b'{"who":"Ana Lund"}', b'{"who":"Ana Land"}'))
    told = project.json("audit", "verify", code=9)
    assert [(each["code"], each["call"]) for each in told["findings"]] == [("AUD010", id)]
    assert f"payload of call {id}" in project.run("audit", "verify", code=9).out
    shown = project.json("status", id, code=9)
    assert (shown["state"], shown["args"], shown["error"]["code"]) == ("quarantined", None, "payload.damaged")
    assert "the payload hash differs: expected sha256:" in shown["error"]["message"]
    assert "quarantined" in project.run("status", id, code=9).out
    assert [each["state"] for each in project.json("incidents", "list")] == ["quarantined"]
    project.run("call", "(desk.wait)")


def test_the_store_measures_itself(project: Shell) -> None:
    told = project.json("bench", "--calls", "64", "--together", "8")
    assert told["calls_per_second"] > 0
    assert told["signals_per_second"] > 0
    assert "signals completed" in project.run("bench", "--calls", "64").out
    assert project.json("parked", "--tenant", "perdure-bench") == []
