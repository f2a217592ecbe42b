"""Every way to get a command wrong: what, where, what to do, the right exit code, and nothing written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.acceptance.commands import Shell
from tests.acceptance.conftest import make_project

UNKNOWN = "0" * 26


class Wrong(NamedTuple):
    """A line, the exit code it earns, and what its message must say."""

    words: tuple[str, ...]
    code: int
    says: tuple[str, ...]


LINES = {
    "a server for one person": Wrong(("serve", "--as", "ana"), 2, ("--as names one person", "perdure keys create")),
    "a server for one group": Wrong(("serve", "--group", "seniors"), 2, ("--group names", "perdure keys create")),
    "unknown verb": Wrong(
        ("call", "kyc.chek-name", "name=Ana"), 3, ("find verb 'kyc.chek-name'", "no such verb", "'kyc.check-name'")
    ),
    "unknown verb in an expression": Wrong(
        ("call", "(kyc.chek-name)"), 3, ("1:1: DSL101", "^", "Did you mean kyc.check-name?")
    ),
    "broken expression": Wrong(
        ("call", '(kyc.check-name :name "Ana"'), 2, ("1:1: DSL001", "^", "Add ')' at line 1, column 28")
    ),
    "several mistakes in an expression": Wrong(
        ("call", "(kyc.check-name :nam 1e5)"), 2, ("DSL013", "Exponents are not read")
    ),
    "two calls": Wrong(("call", "(desk.wait) (desk.wait)"), 2, ("it holds 2 calls", "one call at a time")),
    "a value outside an enum": Wrong(
        ("call", '(request-document :case "1" :document "pasport")'), 2, ("DSL105", 'Did you mean "passport"?')
    ),
    "schema violation": Wrong(("call", "kyc.check-name", "name="), 2, ("verb 'kyc.check-name'", "$.name", "shorter")),
    "unknown argument": Wrong(("call", "kyc.check-name", "name=Ana", "nam=1"), 2, ("$.nam", "known field", "'name'")),
    "missing argument": Wrong(("call", "kyc.check-name"), 2, ("$.name", "required")),
    "oversize payload": Wrong(("call", "desk.wait", f"who={'x' * 70_000}"), 2, ("65,536", "who")),
    "no pair": Wrong(("call", "desk.wait", "who"), 2, ("argument 'who'", "name=value")),
    "no JSON": Wrong(("call", "desk.wait", "--args", "{who: 1}"), 2, ("option '--args'", "not JSON", "quotes")),
    "no duration": Wrong(("call", "desk.wait", "--timeout", "soon"), 2, ("option '--timeout'", "'soon'", "P14D")),
    "unknown id": Wrong(("status", UNKNOWN), 3, (f"call '{UNKNOWN}'",)),
    "no id": Wrong(("status", "C-7"), 3, ("'C-7'", "not an id")),
    "unknown key": Wrong(("progress", "nothing", "text"), 3, ("key 'nothing'", "nothing waits")),
    "unknown dead letter": Wrong(("dead-letters", "replay", "m"), 3, ("dead letter 'm'", "perdure dead-letters list")),
    "unindexed field": Wrong(("find", "desk.wait", "number=1"), 2, ("'number' is not in its index", "Indexed: who")),
    "result and error": Wrong(("complete", "k", "--result", "1", "--error", "x"), 2, ("both --result and --error",)),
    "neither data nor approval": Wrong(("amend", UNKNOWN), 2, ("either --data or --approve",)),
    "neither result nor error": Wrong(("incidents", "resolve", UNKNOWN), 2, ("either --result or --error",)),
    "unknown store": Wrong(("parked", "--store", "mysql://x"), 2, ("store 'mysql://x'", "sqlite:///perdure.db")),
    "no such file": Wrong(("status", UNKNOWN, "--store", "sqlite:///no.db"), 3, ("no.db'", "no such file", "--store")),
    "folder for a store": Wrong(("parked", "--store", "sqlite:///definitions"), 8, ("definitions'",)),
    "no Postgres there": Wrong(("parked", "--store", "postgresql://u:secret@127.0.0.1:1/x"), 8, ("127.0.0.1",)),
    "unknown configuration": Wrong(("parked", "--config", "no.yaml"), 2, ("configuration 'no.yaml'", "No such file")),
    "missing definitions": Wrong(("verbs", "list", "--definitions", "definition"), 2, ("definition:1:1", "nitions'")),
    "missing handlers": Wrong(("call", "(desk.wait)", "--handlers", "nowhere"), 2, ("'nowhere'", "cannot be imported")),
    "no export": Wrong(("audit", "verify", "no.json"), 2, ("export 'no.json'", "cannot be read")),
    "no anchor": Wrong(("audit", "verify", "--anchor", "x"), 2, ("option '--anchor'", "NUMBER:HASH")),
    "no backup": Wrong(("db", "restore", "no.backup", "--store", "sqlite:///n.db"), 3, ("no.backup'",)),
    "unknown command": Wrong(("statu",), 2, ("No such command 'statu'", "status")),
    "unknown option": Wrong(("status", "--jason", UNKNOWN), 2, ("No such option", "--jason")),
    "missing word": Wrong(("status", "--tenant", "t"), 2, ("Missing argument", "ID")),
}  # fmt: skip


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory, begun_project: Path) -> Shell:
    """One project with an empty store, for lines that change nothing."""
    shell = make_project(tmp_path_factory.mktemp("errors"), begun_project)
    shell.run("db", "upgrade")
    return shell


@pytest.mark.req("P6")
@pytest.mark.parametrize("wrong", LINES.values(), ids=LINES.keys())
def test_a_wrong_line_says_what_where_and_what_to_do(started: Shell, wrong: Wrong) -> None:
    refused = started.run(*wrong.words, "--json", code=wrong.code)
    assert refused.out == ""
    told = refused.told
    for words in wrong.says:
        assert words in told["message"], told["message"]
    assert told["exit_code"] == wrong.code
    assert "secret" not in refused.error
    assert "Traceback" not in refused.error
    assert not [name for name in ("no.db", "n.db") if (started.folder / name).exists()]


@pytest.mark.req("P6")
@pytest.mark.parametrize(
    "name", ["unknown verb", "broken expression", "schema violation", "unknown id", "unknown store"]
)
def test_people_are_told_the_same_without_a_traceback(started: Shell, name: str) -> None:
    wrong = LINES[name]
    shown = started.run(*wrong.words, code=wrong.code)
    assert shown.out == ""
    for words in wrong.says:
        assert words in shown.error
    assert "Traceback" not in shown.error


@pytest.mark.req("P6")
def test_wrong_lines_wrote_nothing(started: Shell) -> None:
    for name in ("schema violation", "oversize payload", "unknown argument", "missing handlers"):
        started.run(*LINES[name].words, code=LINES[name].code)
    rows = started.json("db", "check")["rows"]
    assert (rows["aggregates"], rows["payloads"], rows["messages"]) == (0, 0, 0)


FILES = {
    "malformed YAML": ("definitions/bad.yaml", "- name: [desk.bad\n  x: 1\n", ("bad.yaml:2:", "yaml.")),
    "unknown key of a verb": (
        "definitions/bad.yaml", "- name: desk.bad\n  exekution: {kind: sync}\n",
        ("bad.yaml:2:3", "exekution", "Did you mean 'execution'?"),
    ),
    "unknown key of the configuration": (
        "perdure.yaml", "stoer: sqlite:///x.db\n", ("perdure.yaml:1:1", "stoer", "Did you mean 'store'?")
    ),
    "a handler for no verb": (
        "handlers/bad.py", "from perdure import verb\n\n@verb('desk.fial')\ndef f(call): ...\n",
        ("bad.py:3:1", "desk.fial", "Did you mean 'desk.fail'?"),
    ),
    "a handler that does not import": (
        "handlers/bad.py", "import nothing_of_this_name\n", ("handlers.bad", "nothing_of_this_name")
    ),
}  # fmt: skip


@pytest.mark.req("P6")
@pytest.mark.parametrize(("name", "text", "says"), FILES.values(), ids=FILES.keys())
def test_a_wrong_file_is_named_with_its_line(project: Shell, name: str, text: str, says: tuple[str, ...]) -> None:
    (project.folder / name).write_text(text)
    refused = project.run("call", "(desk.wait)", "--json", code=2)
    told = refused.told
    for words in says:
        assert words in told["message"]
    assert told["problems"][0]["file"]
    assert not (project.folder / "perdure.db").exists()


@pytest.mark.req("P6")
def test_what_has_ended_cannot_be_changed(project: Shell) -> None:
    id = project.json("call", '(kyc.check-name :name "Ana")')["id"]
    refused = project.run("cancel", id, "--json", code=5)
    assert refused.told["code"] == "rejected.wrong_state"
    parked = project.json("call", "(desk.wait)")["id"]
    project.run("erase", parked, "--reason", "too early", code=5)
    project.run("incidents", "retry", parked, code=5)


@pytest.mark.req("P6")
def test_a_completion_that_does_not_fit_changes_nothing(project: Shell) -> None:
    id = project.json("call", '(kyc.request-document :case "C-7" :document "passport")')["id"]
    refused = project.run("complete", "C-7/passport", "--result", '{"accepted": "yes"}', "--json", code=2)
    assert "$.accepted" in refused.told["message"]
    assert project.json("status", id)["state"] == "parked"


def test_a_taken_key_is_refused_naming_its_holder_and_nothing_is_written(project: Shell) -> None:
    asking = '(kyc.request-document :case "C-7" :document "passport")'
    id = project.json("call", asking)["id"]
    refused = project.run("call", asking, code=4)
    assert f"call {id} already waits under that key" in " ".join(refused.error.split())
    assert [each["id"] for each in project.json("parked")] == [id]


@pytest.mark.req("P6")
def test_an_error_of_perdure_itself_says_how_to_see_more(project: Shell) -> None:
    """A stand-in for a defect: a module of the command line that does not load."""
    broken = project.folder / "sitecustomize.py"
    broken.write_text(
        "import perdure.app.lists.parked_calls as home\n"
        "async def parked_calls(*args, **kwargs):\n    raise ZeroDivisionError('no reason')\n"
        "home.parked_calls = parked_calls\n"
    )
    project.environment["PYTHONPATH"] = str(project.folder)
    project.run("db", "upgrade")
    refused = project.run("parked", code=10)
    assert "ZeroDivisionError: no reason" in refused.error
    assert "PERDURE_DEBUG=1" in refused.error
    assert "Traceback" not in refused.error
    project.environment["PERDURE_DEBUG"] = "1"
    assert "Traceback" in project.run("parked", code=None).error


def test_every_error_is_one_json_object(started: Shell) -> None:
    refused = started.run("status", UNKNOWN, "--json", code=3)
    assert set(json.loads(refused.error)) == {"error"}
    assert {"code", "message", "hint", "exit_code"} <= set(refused.told)


@pytest.mark.parametrize(
    "line", [("parked",), ("call", "a.b"), ("calls", "list"), ("tasks", "list"), ("incidents", "list")]
)
def test_a_folder_without_a_project_is_told_and_stays_empty(line: tuple[str, ...], tmp_path: Path) -> None:
    told = Shell(tmp_path).run(*line, code=3)
    assert "there is no perdure.yaml in it, and no store" in told.error
    assert "perdure init" in told.error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("line", [("-h",), ("call", "-h"), ("calls", "list", "-h")])
def test_help_is_given_for_the_short_word_too(line: tuple[str, ...], tmp_path: Path) -> None:
    assert "--help" in Shell(tmp_path).run(*line).out


def test_the_release_is_told_for_the_short_word_too(tmp_path: Path) -> None:
    assert Shell(tmp_path).run("-V").out == Shell(tmp_path).run("--version").out != ""
