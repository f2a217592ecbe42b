"""The terminal itself: a capable one, a dumb one and a pipe show the same conversation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.pseudo_terminal import Terminal
from tests.house.tree import ROOT

COMMAND = [sys.executable, "-m", "tests.surfaces.repl.memory_main"]


@pytest.mark.req("V28")
@pytest.mark.parametrize("term", ["xterm-256color", "dumb", "vt100"])
def test_a_conversation_works_in_any_terminal(tmp_path: Path, term: str) -> None:
    with Terminal(COMMAND, tmp_path, term, PYTHONPATH=str(ROOT)) as terminal:
        assert "Say what you want to do" in terminal.opened()
        assert "Which 'Allianz' do you mean?" in terminal.tell("open a kyc case for Allianz")
        assert "periodic review" in terminal.tell("Allianz SE")
        assert "Is that right?" in terminal.tell("periodic review")
        assert "2 of 2 steps complete" in terminal.tell("yes", "run", "y")
        assert terminal.left() == 0
    assert max(len(line) for line in terminal.everything.splitlines()) <= 80


@pytest.mark.req("V28")
def test_words_are_completed_and_remembered(tmp_path: Path) -> None:
    with Terminal(COMMAND, tmp_path, PYTHONPATH=str(ROOT)) as terminal:
        terminal.opened()
        terminal.keys(b"book-s\t")
        terminal.until("book-setup")
        assert "What is the book called?" in terminal.tell("")
        terminal.tell("cancel")
        assert terminal.left() == 0
    with Terminal(COMMAND, tmp_path, PYTHONPATH=str(ROOT)) as terminal:
        terminal.opened()
        terminal.keys(b"\x1b[A\x1b[A\x1b[A")
        terminal.until("book-setup")
        assert "What is the book called?" in terminal.tell("")


def test_control_d_leaves_and_control_c_withdraws_a_question(tmp_path: Path) -> None:
    with Terminal(COMMAND, tmp_path, PYTHONPATH=str(ROOT)) as terminal:
        terminal.opened()
        terminal.tell("book-setup")
        assert "not now" in terminal.press(b"\x03")
        assert terminal.left("\x04") == 0


@pytest.mark.req("V28")
def test_a_pipe_is_as_good_as_a_terminal(tmp_path: Path) -> None:
    lines = "kyc-case\nNordlys\n\nyes\nrun\ny\nquit\n"
    done = subprocess.run(
        COMMAND, input=lines, capture_output=True, text=True, cwd=ROOT, timeout=60, check=True,
        env={"PATH": "/usr/bin", "COLUMNS": "80", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert "2 of 3 steps complete" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stderr == ""
