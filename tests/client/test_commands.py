"""Commands asked of a server end as they end on a store: the same exit code, the same words."""

from __future__ import annotations

import asyncio
import functools
import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from perdure.surfaces.cli import application as commands
from perdure.surfaces.cli.application import run
from tests.client.lossy_server import housed
from tests.surfaces.http.in_process_server import DEFINITIONS

HANDLERS = '''
"""The handlers of the desk."""

from perdure import BusinessError, verb


@verb("desk.note")
def note(call):
    return {"noted": call.args["text"]}


@verb("desk.fail")
def fail(call):
    raise BusinessError("desk.refused", "the desk is closed")


@verb("desk.stuck")
def stuck(call):
    return {}


@verb("vault.open")
def unlock(call):
    return {"open": True}


@verb("vault.empty")
def empty(call):
    return {"empty": True}
'''
NOBODY = "0" * 26
SITUATIONS: list[tuple[tuple[str, ...], int]] = [
    (("call", "desk.note", "text=x"), 0),
    (("call", '(desk.note :text "y")'), 0),
    (("call", "(note :text 1)"), 2),
    (("call", "desk.note"), 2),
    (("call", '(desk.note :tex "y")'), 2),
    (("call", "(desk.notes)"), 3),
    (("call", "desk.notes"), 3),
    (("call", "desk.note", "text=x", "--version", "7"), 3),
    (("call", "desk.fail"), 1),
    (("call", "desk.stuck"), 1),
    (("call", "desk.wait", "who=ana"), 0),
    (("call", "desk.wait", "--wait", "--timeout", "PT0.1S"), 11),
    (("call", "desk.note", "text=x", "--idempotency-key", "one"), 0),
    (("call", "desk.note", "text=y", "--idempotency-key", "one"), 4),
    (("status", NOBODY), 3),
    (("status", "nonsense"), 3),
    (("events", NOBODY), 3),
    (("cancel", NOBODY), 3),
    (("complete", "nobody", "--result", "{}"), 1),
    (("progress", "nobody", "half"), 3),
    (("find", "desk.note", "text=x"), 0),
    (("find", "desk.note", "author=x"), 2),
    (("parked",), 0),
    (("run", "good.runbook"), 0),
    (("run", "failing.runbook"), 1),
    (("run", "unknown.runbook"), 3),
    (("run", "wrong.runbook"), 2),
    (("run", "missing.runbook"), 2),
    (("run", "good.runbook", "--confirm", "sha256:other"), 6),
    (("runbook", "plan", "good.runbook"), 0),
    (("runbook", "show", NOBODY), 3),
    (("runbook", "list"), 0),
    (("incidents", "list"), 0),
    (("incidents", "retry", NOBODY), 3),
    (("dead-letters", "list"), 0),
    (("dead-letters", "replay", "nothing"), 3),
    (("message", "correlate", "unheard", "k"), 1),
    (("message", "publish", "unheard", "k"), 1),
    (("signal", "unheard"), 0),
    (("processes", "list"), 0),
    (("processes", "show", "nothing"), 3),
    (("deploy", "missing.bpmn"), 2),
    (("deploy", "--check", "missing.bpmn"), 2),
    (("deploy", "--check"), 0),
    (("deploy",), 2),
    (("instances", "start", "nothing"), 3),
    (("instances", "list"), 0),
    (("tasks", "list"), 0),
    (("tasks", "show", f"{NOBODY}:1"), 3),
    (("verbs", "list"), 0),
    (("verbs", "show", "desk.note"), 0),
    (("verbs", "show", "desk.notes"), 3),
    (("keys", "list"), 0),
    (("keys", "revoke", NOBODY), 3),
]
OTHERWISE = {"--idempotency-key", "--confirm", "replay", "start"}
"""Where a server looks first at who may, at the key or at the plan, and says so in words of its own."""
LOCAL = (
    ("worker",), ("serve",), ("mcp",), ("repl",), ("db", "check"), ("audit", "verify"), ("audit", "seal"),
    ("packs", "list"), ("bench",),
)  # fmt: skip


def project(folder: Path) -> None:
    (folder / "desk.yaml").write_text(DEFINITIONS, encoding="utf-8")
    (folder / "desk_of_ours.py").write_text(textwrap.dedent(HANDLERS), encoding="utf-8")
    programs = {
        "good": '(desk.note :text "a")', "failing": "(desk.fail)", "unknown": "(desk.notes)",
        "wrong": '(desk.note :text "a")\n(desk.note :tex "b")',
    }  # fmt: skip
    for name, program in programs.items():
        (folder / f"{name}.runbook").write_text(program, encoding="utf-8")


async def said(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any, Any]:
    """How a command ends: its code, what it tells, and what it tells of an error."""
    capfd.readouterr()
    code = await asyncio.to_thread(_run, list(words))
    told, error = capfd.readouterr()
    return code, json.loads(told.splitlines()[-1]) if told else None, json.loads(error)["error"] if error else None


def _run(words: list[str]) -> int:
    try:
        return run([*words, "--json"])
    except SystemExit as ended:
        return int(ended.code or 0)


@pytest.mark.req("P2", "P6")
async def test_a_command_ends_alike_on_a_server_and_on_a_store(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    project(tmp_path)
    monkeypatch.chdir(tmp_path)
    here = ("--definitions", "desk.yaml", "--handlers", "desk_of_ours", "--store", f"sqlite:///{tmp_path}/own.db")
    async with housed(sqlite_url) as house:
        (tmp_path / "key").write_text(await house.key("admin") + "\n", encoding="utf-8")
        there = ("--server", house.proxy.url, "--key-file", "key")
        monkeypatch.setattr(commands, "application", functools.cache(commands.application))
        different = []
        for words, code in SITUATIONS:
            on_store = await said(capfd, *words, *here)
            on_server = await said(capfd, *words, *there)
            is_same = on_store[0] == on_server[0] == code and type(on_server[1]) is type(on_store[1])
            if not is_same or (on_server[2] != on_store[2] and not OTHERWISE & set(words)):
                different.append((words, on_store, on_server))
        assert different == [], "\n".join(map(repr, different))


@pytest.mark.req("P2", "P6")
async def test_a_call_and_a_runbook_live_on_a_server_as_they_do_on_a_store(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    project(tmp_path)
    monkeypatch.chdir(tmp_path)
    async with housed(sqlite_url) as house:
        monkeypatch.setenv("PERDURE_SERVER", house.proxy.url)
        monkeypatch.setenv("PERDURE_KEY", await house.key("admin"))
        _, noted, _ = await said(capfd, "call", "desk.note", "text=hello")
        assert noted["sentence"] == "Note hello" and noted["result"] == {"noted": "hello"}
        _, parked, _ = await said(capfd, "call", "desk.wait", "who=ana")
        assert (await said(capfd, "status", parked["id"]))[1]["state"] == "parked"
        code, receipt, _ = await said(capfd, "complete", parked["waiting_for"]["key"], "--result", '{"ok": true}')
        assert (code, receipt["call"]["state"]) == (0, "completed")
        events = [each["event"] for each in (await said(capfd, "events", parked["id"]))[1]]
        assert events == ["DurableTaskStarted", "Parked", "Resumed", "ExecutionResult"]
        assert [each["entry"] for each in (await said(capfd, "events", parked["id"], "--journal"))[1]]
        code, _, refused = await said(capfd, "call", "vault.open")
        assert (code, refused["code"]) == (6, "rejected.blocked")
        hash = refused["hint"].rpartition("confirm: ")[2].rstrip(".")
        assert (await said(capfd, "call", "vault.open", "--confirm", hash))[0] == 0
        _, begun, _ = await said(capfd, "run", "good.runbook", "--case", "c-1")
        assert (begun["state"], begun["case"]) == ("completed", "c-1")
        assert (await said(capfd, "runbook", "export", begun["id"], "-o", "case.json"))[0] == 0
        assert (await said(capfd, "audit", "verify", "case.json"))[1]["ok"] is True
        code, made, _ = await said(
            capfd, "keys", "create", "k", "--principal", "vic", "--role", "viewer", "--expires", "P1D"
        )
        assert code == 0 and made["view"]["expires_at"]
        for words in LOCAL:
            code, _, error = await said(capfd, *words)
            assert code == 2 and "is a server" in error["message"], words
        for option in ("--as", "--tenant"):
            assert (await said(capfd, "parked", option, "eve"))[0] == 2
        assert (await said(capfd, "parked", "--server", house.proxy.url, "--store", "sqlite:///x.db"))[0] == 2
        assert (await said(capfd, "parked", "--key-file", "nowhere"))[0] == 2
        monkeypatch.setenv("PERDURE_KEY", "perdure_wrong")
        assert (await said(capfd, "parked"))[0] == 7
        monkeypatch.setattr("perdure.surfaces.cli.remote_server.PATIENCE_SECONDS", 0.0)
        assert (await said(capfd, "parked", "--server", "http://127.0.0.1:9"))[0] == 8
