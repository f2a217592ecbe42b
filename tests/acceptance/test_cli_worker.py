"""The worker from outside: it says when it is ready, works while others call, and may die at any time."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.acceptance.commands import Shell

ESCALATING = """
- name: desk.hurry
  description: Wait for a moment only
  execution: {kind: durable, policy: {timeout: PT0.1S}}
"""


@contextmanager
def worker(shell: Shell) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """A worker that is ready; dead at the latest when the block ends."""
    process = shell.start("worker", "--json")
    assert process.stdout is not None
    try:
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


@pytest.mark.req("P6")
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_stops_in_order_when_asked(project: Shell, stop: signal.Signals) -> None:
    with worker(project) as (process, ready):
        assert (ready["ready"], ready["pid"], ready["verbs"]) == (True, process.pid, 5)
        assert project.json("db", "check")["workers"][0]["is_live"]
        process.send_signal(stop)
        out, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (0, "")
    assert json.loads(out) == {"ready": False, "stopped": True}
    assert not [each for each in project.json("db", "check")["workers"] if each["is_live"]]


def test_people_see_that_a_worker_is_ready(project: Shell) -> None:
    process = project.start("worker")
    assert process.stdout is not None
    line = process.stdout.readline()
    process.terminate()
    out, _ = process.communicate(timeout=60)
    assert f"ready: worker {process.pid}" in line
    assert "stopped" in out


@pytest.mark.req("V17")
def test_a_worker_killed_at_any_time_loses_nothing(project_on_store: Shell) -> None:
    shell = project_on_store
    with worker(shell) as (process, _):
        id = shell.json("call", "(desk.wait)")["id"]
        process.kill()
        process.wait()
    assert shell.json("status", id)["state"] == "parked"
    with worker(shell):
        assert shell.json("complete", id, "--result", "{}")["answer"] == "applied"
        assert shell.json("complete", id, "--result", "{}")["answer"] == "duplicate"
    assert shell.json("status", id)["state"] == "completed"
    assert shell.json("audit", "verify")["ok"]


@pytest.mark.req("X13")
def test_a_worker_times_out_what_waits_too_long(project: Shell) -> None:
    (project.folder / "definitions" / "hurry.yaml").write_text(ESCALATING)
    id = project.json("call", "(desk.hurry)")["id"]
    with worker(project):
        events = project.run("events", id, "--follow", "--json").out.splitlines()
    assert [json.loads(each)["event"] for each in events] == [
        "DurableTaskStarted", "Parked", "TimerFired", "ExecutionResult"
    ]  # fmt: skip
    assert project.json("status", id)["state"] == "failed"


def test_a_caller_that_waits_sees_a_completion_from_elsewhere(project_on_store: Shell) -> None:
    project_on_store.run("db", "upgrade")  # looking makes no store
    waiting = project_on_store.start(
        "call", '(kyc.request-document :case "C-7" :document "passport")', "--wait", "--json"
    )
    while not project_on_store.json("parked"):
        assert waiting.poll() is None
    project_on_store.run("complete", "C-7/passport", "--result", '{"accepted": true}')
    out, error = waiting.communicate(timeout=60)
    assert (waiting.returncode, error) == (0, "")
    assert json.loads(out)["result"] == {"accepted": True}


def test_whoever_interrupts_a_command_sees_no_traceback(project: Shell) -> None:
    waiting = project.start("call", "(desk.wait)", "--wait")
    while not project.json("parked"):
        assert waiting.poll() is None
    waiting.send_signal(signal.SIGINT)
    _, error = waiting.communicate(timeout=60)
    assert waiting.returncode == 130
    assert "Traceback" not in error
