"""Every parser stands coverage-guided fuzzing: no crash, no hang, no unbounded memory."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from perdure.testing.postgres_service import is_required
from tests.conftest import ROOT, unavailable
from tests.fuzz.targets import TARGETS

pytestmark = pytest.mark.deep

SECONDS = int(os.environ.get("PERDURE_FUZZ_SECONDS", "0"))
ALIKE = ("--seed=1", "--runs=200")
"""The same inputs on every machine: what is green once is green for that code; new inputs are for whoever looks."""

HAS_WHEEL = (
    sys.platform == "linux"
    and platform.machine() == "x86_64"
    and platform.python_implementation() == "CPython"
    and sys.version_info[:2] in {(3, 11), (3, 12)}
)


@pytest.fixture(autouse=True)
def atheris() -> None:
    """Skips loudly without the fuzzer; fails where services are required and there is a wheel of it."""
    if importlib.util.find_spec("atheris") is not None:
        return
    if HAS_WHEEL or not is_required():
        unavailable("atheris is not installed (uv sync --group fuzz)")
    pytest.skip("SERVICE MISSING: there is no atheris for this machine and this Python")


class Fuzzer:
    """The process that has loaded what is fuzzed, and forks for each target."""

    def __init__(self) -> None:
        # By a shell: whatever we start ourselves counts our memory as its own peak, and the fuzzer bounds that.
        command = ["sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-m", "tests.fuzz", "serve"]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def fuzz(self, target: str, seconds: int, found: Path, *more: str) -> Done:
        place = found.with_name(f"{found.name}.said")
        line = [str(place), target, f"--seconds={seconds}", f"--found={found}", *more]
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(line) + "\n")
        code = self._process.stdout.readline()
        assert code, "the process that forks fuzzers is gone"
        return Done(int(code), place.read_text(encoding="utf-8", errors="replace"))

    def close(self) -> None:
        self._process.communicate(timeout=60)


class Done(NamedTuple):
    """How a fuzzer ended, and what it said."""

    code: int
    said: str


@pytest.fixture(scope="module")
def fuzzer() -> Iterator[Fuzzer]:
    made = Fuzzer()
    yield made
    made.close()


def told(done: Done, found: Path) -> str:
    """What broke, on which input, and how to see it again."""
    inputs = "\n".join(f"{path.name}: {path.read_bytes()!r:.2000}" for path in sorted(found.glob("*")))
    return f"{done.said[-3000:]}\n{inputs}\nagain: python -m tests.fuzz TARGET --input FILE"


@pytest.mark.parametrize("target", TARGETS)
def test_a_parser_stands_fuzzing(target: str, tmp_path: Path, fuzzer: Fuzzer) -> None:
    done = fuzzer.fuzz(target, SECONDS, tmp_path) if SECONDS else fuzzer.fuzz(target, 60, tmp_path, *ALIKE)
    assert done.code == 0 and not list(tmp_path.iterdir()), told(done, tmp_path)
    assert "stat::number_of_executed_units" in done.said, told(done, tmp_path)


@pytest.mark.parametrize(
    ("target", "sign", "kept"),
    [("crashes", "KeyError", "crash-"), ("hangs", "timeout", "timeout-"), ("swells", "out-of-memory", "oom-")],
)
def test_a_broken_parser_is_noticed_and_its_input_kept(
    target: str, sign: str, kept: str, tmp_path: Path, fuzzer: Fuzzer
) -> None:
    done = fuzzer.fuzz(target, 60, tmp_path, f"--timeout={10 if target == 'hangs' else 60}", "--memory=600", "--seed=1")
    assert done.code != 0
    assert sign in done.said
    (file,) = tmp_path.iterdir()
    assert file.name.startswith(kept)
    assert file.read_bytes().startswith(b"!")
    assert repr(file.read_bytes())[:20] in told(done, tmp_path)
