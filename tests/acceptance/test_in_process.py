"""A command inside the test's process says what the installed program says, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
from pathlib import Path

import pytest

from tests.acceptance.commands import Shell
from tests.acceptance.in_process import can_run_here, run_here

LINES = (
    "verbs list",
    "verbs nonsense",
    "--help",
    "call --help",
    "lint --json",
    "parked",
    "status 00000000000000000000000000",
    "call (desk.fail)",
    "verbs list --nonsense --json",
)


@pytest.mark.parametrize("line", LINES)
def test_it_says_and_ends_as_a_process_of_its_own_does(project: Shell, line: str) -> None:
    words = line.split()
    project.run("parked", "--json")  # the store is there
    inside = run_here(["perdure", *words], project.folder, project.environment, "")
    code, out, error = project.run_process(*words, code=None)
    assert (inside.returncode, _without_ids(inside.stdout), inside.stderr) == (code, _without_ids(out), error)


def _without_ids(text: str) -> str:
    """Each call has an id of its own."""
    return re.sub(r"\b[0-9a-z]{26}\b", "ID", text)


def test_it_leaves_folder_environment_streams_modules_and_logs_as_they_were(project: Shell) -> None:
    before = _state()
    project.environment["SAID"] = "hello"
    project.run("call", "(desk.stuck)", code=None)
    project.run("no-such-command", code=2)
    assert _state() == before
    assert "handlers.desk" not in sys.modules


def _state() -> tuple[object, ...]:
    logger = logging.getLogger("perdure")
    streams = (sys.stdin, sys.stdout, sys.stderr, sys.__stdout__)
    return (Path.cwd(), dict(os.environ), streams, list(sys.path), logger.level, list(logging.getLogger().handlers))


def test_a_handler_that_was_changed_is_read_again_by_the_next_command(project: Shell) -> None:
    stuck = project.run("call", "(desk.stuck)", "--json", code=None)
    assert stuck.json["state"] != "completed"
    handlers = project.folder / "handlers" / "desk.py"
    handlers.write_text(handlers.read_text().replace('if Path("mended").exists() else {}', ""))
    assert project.json("call", "(desk.stuck)")["result"] == {"mended": True}


def test_what_it_is_given_on_standard_input_is_read(project: Shell) -> None:
    assert project.run("call", "-", "--json", text="(desk.fail)", code=None).json["state"] == "failed"


async def test_beside_an_event_loop_a_command_is_a_process(project: Shell) -> None:
    assert not can_run_here()
    assert "desk.fail" in project.run("verbs", "list").out
    assert not await asyncio.to_thread(can_run_here)
