"""A shell in which `perdure` runs: inside the test's process, or as a process of its own where that is the subject."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.acceptance.forking import is_alike, run_command
from tests.acceptance.in_process import can_run_here, run_here

PERDURE = Path(sys.executable).with_name("perdure")
SECONDS = 120


class Ended(NamedTuple):
    """A command that ended."""

    code: int
    out: str
    error: str

    @property
    def json(self) -> Any:
        """What it printed, which must be one JSON value and nothing else."""
        return json.loads(self.out)

    @property
    def told(self) -> dict[str, Any]:
        """The error it told as JSON, which must be all of stderr."""
        found: dict[str, Any] = json.loads(self.error)["error"]
        return found


class Shell:
    """A folder and an environment in which commands run; the store is named by the environment."""

    def __init__(self, folder: Path, store: str = "") -> None:
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PERDURE_")}
        self.environment = {**kept, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "120", "PERDURE_PRINCIPAL": "ana"}
        if store:
            self.environment["PERDURE_STORE"] = store

    def run(self, *words: str, code: int | None = 0, text: str | None = None) -> Ended:
        """Run a command to its end and hold it to its exit code; in the test's process, where that is the same."""
        if not (can_run_here() and is_alike(self.environment)):
            return self.run_process(*words, code=code, text=text)
        return _held(code, run_here([str(PERDURE), *words], self.folder, self.environment, text or ""))

    def run_process(self, *words: str, code: int | None = 0, text: str | None = None) -> Ended:
        """Run a command to its end in a process of its own."""
        return _held(code, run_command([str(PERDURE), *words], self.folder, self.environment, text or "", SECONDS))

    def json(self, *words: str, code: int = 0) -> Any:
        """The one JSON value a command prints; nothing may stand beside it."""
        ended = self.run(*words, "--json", code=code)
        assert ended.error == "", ended.error
        return ended.json

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command that goes on; whoever starts it ends it."""
        return subprocess.Popen(
            [PERDURE, *words], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, preexec_fn=_hear_interrupts,  # noqa: PLW1509  no threads start between fork and exec
        )  # fmt: skip


def _held(code: int | None, done: subprocess.CompletedProcess[str]) -> Ended:
    assert code is None or done.returncode == code, (done.args, done.returncode, done.stdout, done.stderr)
    return Ended(done.returncode, done.stdout, done.stderr)


def _hear_interrupts() -> None:
    """Tests may run in the background, where a shell lets interrupts be ignored; the child is to hear them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
