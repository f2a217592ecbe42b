"""The main path through the command line, on both stores: call, park, complete, find, follow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.commands import Shell

ASKING = '(kyc.request-document :case "C-7" :document "passport")'


@pytest.mark.req("P6")
@pytest.mark.req("V1")
def test_a_sync_verb_answers_at_once(project_on_store: Shell) -> None:
    told = project_on_store.json("call", '(kyc.check-name :name "Ana Lund")')
    assert told["state"] == "completed"
    assert told["result"] == {"name": "Ana Lund", "listed": False}
    assert (told["error"], told["waiting_for"], told["principal"]) == (None, None, "ana")
    assert told["sentence"] == "Check Ana Lund against the watch list"
    assert project_on_store.json("status", told["id"]) == told


@pytest.mark.req("X16")
@pytest.mark.req("X25")
@pytest.mark.both_stores
def test_a_durable_verb_parks_and_its_completion_counts_once(project_on_store: Shell) -> None:
    shell = project_on_store
    parked = shell.json("call", ASKING)
    assert parked["state"] == "parked"
    assert parked["waiting_for"]["key"] == "C-7/passport"
    assert [each["id"] for each in shell.json("parked")] == [parked["id"]]
    first = shell.json("complete", "C-7/passport", "--result", '{"accepted": true}', "--id", "m-1")
    second = shell.json("complete", "C-7/passport", "--result", '{"accepted": true}', "--id", "m-1")
    other = shell.run("complete", "C-7/passport", "--result", '{"accepted": false}', "--id", "m-2", code=12)
    assert "too late" in other.out, "what came after the first answer did not count, and a script is told so"
    assert [first["answer"], second["answer"]] == ["applied", "duplicate"]
    ended = shell.json("status", parked["id"])
    assert (ended["state"], ended["result"]) == ("completed", {"accepted": True})
    events = [each["text"] for each in shell.json("events", parked["id"])]
    assert events == [
        "StepStarted", "DurableTaskStarted", "Parked(ExternalSignal, Awaiting kyc.request-document)",
        "Resumed(ExternalSignal, kyc.request-document)", "ExecutionResult(ok)",
    ]  # fmt: skip
    assert [each["id"] for each in shell.json("find", "kyc.request-document", "case=C-7")] == [parked["id"]]


@pytest.mark.req("X25")
def test_a_failed_completion_fails_the_call(project_on_store: Shell) -> None:
    parked = project_on_store.json("call", ASKING)
    project_on_store.run("complete", "C-7/passport", "--error", "the client left", "--code", "client.gone")
    told = project_on_store.json("status", parked["id"])
    assert told["state"] == "failed"
    assert told["error"] == {
        "failure_class": "permanent_business",
        "code": "client.gone",
        "message": "the client left",
    }


def test_asked_twice_under_one_key_it_is_called_once(project_on_store: Shell) -> None:
    first = project_on_store.json("call", ASKING, "--idempotency-key", "k")
    again = project_on_store.json("call", ASKING, "--idempotency-key", "k")
    assert first["id"] == again["id"]


@pytest.mark.req("V31")
def test_another_tenant_sees_nothing(project_on_store: Shell) -> None:
    parked = project_on_store.json("call", ASKING)
    assert project_on_store.json("parked", "--tenant", "other") == []
    refused = project_on_store.run("status", parked["id"], "--tenant", "other", "--json", code=3)
    assert refused.told["code"] == "rejected.not_found"


@pytest.mark.req("P7")
def test_what_was_called_verifies_and_can_be_handed_on(project_on_store: Shell) -> None:
    shell = project_on_store
    called = shell.json("call", '(kyc.check-name :name "Ana Lund")')
    assert shell.json("audit", "seal") == {"seals": 1}
    report = shell.json("audit", "verify", "--require-sealed")
    assert report["ok"]
    assert (report["aggregates"], report["findings"]) == (1, [])
    assert shell.json("audit", "export", "--out", "export")["written"] == 1
    assert shell.json("audit", "verify", f"export/{called['id']}.json")["ok"]


@pytest.mark.req("V1")
def test_arguments_can_be_words_json_or_an_expression_from_stdin(project: Shell) -> None:
    by_words = project.json("call", "kyc.check-name", "name=42")
    by_json = project.json("call", "kyc.check-name", "--args", '{"name": "42"}')
    by_expression = project.run("call", "-", "--json", text=';; intent: check\n(check-name :name "42")').json
    assert by_words["args"] == by_json["args"] == by_expression["args"] == {"name": "42"}
    numbered = project.json("call", "desk.wait", "number=7", "who=7")
    assert numbered["args"] == {"number": 7, "who": "7"}


def test_a_call_that_fails_exits_1_and_says_why(project: Shell) -> None:
    told = project.json("call", "(desk.fail)", code=1)
    assert (told["state"], told["error"]["code"]) == ("failed", "desk.refused")
    shown = project.run("call", "(desk.fail)", code=1)
    assert "the desk is closed" in shown.out


def test_waiting_ends_with_the_time_given(project: Shell) -> None:
    told = project.json("call", "(desk.wait)", "--wait", "--timeout", "PT0.1S", code=11)
    assert told["state"] == "parked"


@pytest.mark.req("P6")
def test_options_of_every_command_stand_before_or_after_its_name(project: Shell) -> None:
    called = project.json("call", "(desk.wait)", "--store", "sqlite:///other.db", "--tenant", "t", "--as", "eva")
    before = project.run("--json", "--store", "sqlite:///other.db", "--tenant", "t", "status", called["id"])
    after = project.run("status", called["id"], "--json", "--store", "sqlite:///other.db", "--tenant", "t")
    assert before.json == after.json
    assert before.json["principal"] == "eva"
    assert (project.folder / "other.db").exists()


def test_the_store_is_found_by_option_then_environment_then_configuration(project: Shell) -> None:
    project.run("db", "upgrade")
    assert (project.folder / "perdure.db").exists()
    project.environment["PERDURE_STORE"] = "sqlite:///by-environment.db"
    assert project.json("db", "upgrade")["store"].endswith("by-environment.db")
    assert project.json("db", "upgrade", "--store", "by-option.db")["store"].endswith("by-option.db")


def test_without_a_project_the_store_is_a_file_in_the_working_folder(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    assert shell.json("parked", "--store", "sqlite:///perdure.db") == []
    assert not (shell.folder / "perdure.db").exists()
    shell.run("db", "upgrade")
    assert (shell.folder / "perdure.db").exists()
    assert "perdure init" in shell.run("verbs", "list").out


@pytest.mark.req("P6")
def test_what_handlers_print_never_mixes_with_json(project: Shell) -> None:
    (project.folder / "handlers" / "desk.py").write_text(
        'from perdure import verb\nprint("imported")\n\n@verb("desk.fail")\ndef talk(call):\n    print("talking")\n'
        '    return {"said": "\\u2713 æ"}\n\n@verb("desk.stuck")\ndef stuck(call):\n    return {"mended": True}\n'
    )
    project.environment["PYTHONIOENCODING"] = "ascii"
    ended = project.run("call", "(desk.fail)", "--json")
    assert ended.json["result"] == {"said": "✓ æ"}
    assert ended.error.split() == ["imported", "talking"]
    assert "talking" in project.run("call", "(desk.fail)").out


def test_calls_are_listed_whatever_became_of_them(project_on_store: Shell) -> None:
    done = project_on_store.json("call", '(kyc.check-name :name "Ana Lund")')["id"]
    parked = project_on_store.json("call", ASKING)["id"]
    project_on_store.run("complete", "C-7/passport", "--error", "the client left", "--code", "client.gone")
    listed = project_on_store.json("calls", "list")
    assert [(each["id"], each["state"]) for each in listed["items"]] == [(parked, "failed"), (done, "completed")]
    failed = project_on_store.json("calls", "list", "--state", "failed")
    assert [each["id"] for each in failed["items"]] == [parked]
    named = project_on_store.json("calls", "list", "--verb", "kyc.check-name")
    assert [each["id"] for each in named["items"]] == [done]
    first = project_on_store.json("calls", "list", "--limit", "1")
    assert [each["id"] for each in first["items"]] == [parked]
    assert f"more: --after {first['next']}" in project_on_store.run("calls", "list", "--limit", "1").out
    rest = project_on_store.json("calls", "list", "--after", first["next"])
    assert [each["id"] for each in rest["items"]] == [done]


def test_the_traceback_of_a_bug_begins_with_the_code_of_who_wrote_it(project: Shell) -> None:
    (project.folder / "definitions" / "bad.yaml").write_text("- name: bad.bug\n- name: bad.text\n")
    file = project.folder / "handlers" / "bad.py"
    file.write_text('from perdure import verb\n\n@verb("bad.bug")\ndef bug(call):\n    return {"sum": 1 + call.args}\n')
    told = project.run("call", "bad.bug", code=1).out
    assert "perdure/work" not in told and "concurrent/futures" not in told
    assert f'Traceback (most recent call last):\n  File "{file}", line 5, in bug\n' in told
    (stuck,) = project.json("incidents", "list")
    shown = project.run("incidents", "traceback", stuck["id"]).out
    assert shown.startswith(f'Traceback (most recent call last):\n  File "{file}", line 5, in bug\n')
