"""A command that was forked is, for whoever looks from outside, the one that the installed program runs."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.acceptance.commands import PERDURE, Shell
from tests.acceptance.forking import run_command

LINES = (("verbs", "list"), ("verbs", "nonsense"), ("--help",), ("lint", "--json"), ("status", "0" * 26), ("parked",))


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_it_says_and_ends_as_the_installed_program_does(project: Shell, words: tuple[str, ...]) -> None:
    line = [str(PERDURE), *words]
    forked = run_command(line, project.folder, project.environment, "", 60)
    installed = subprocess.run(
        line, cwd=project.folder, env=project.environment, input="", capture_output=True, text=True, check=False
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        installed.returncode, installed.stdout, installed.stderr,
    )  # fmt: skip


def test_what_takes_too_long_is_killed_and_the_next_command_runs(project: Shell) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run_command([str(PERDURE), "worker"], project.folder, project.environment, "", 2)
    assert "kyc.check-name" in project.run_process("verbs", "list").out


def test_it_stands_in_its_folder_with_its_environment_and_is_a_child_of_another(project: Shell) -> None:
    (project.folder / "handlers" / "desk.py").write_text(LOOKING)
    project.environment["SAID"] = "hello"
    told = project.run_process("call", "(desk.fail)", "--json").json["result"]
    assert told == {"folder": str(project.folder), "said": "hello", "parent": told["parent"]}
    assert told["parent"] != os.getpid()


LOOKING = '''
"""Looks around."""

import os

from perdure import verb


@verb("desk.fail")
def fail(call):
    return {"folder": os.getcwd(), "said": os.environ["SAID"], "parent": os.getppid()}


@verb("desk.stuck")
def stuck(call):
    return {"mended": True}
'''
