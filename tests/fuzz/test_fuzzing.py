"""Every parser stands coverage-guided fuzzing: no crash, no hang, no unbounded memory."""

from __future__ import annotations

import importlib.util
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from perdure.testing.services import is_required
from tests.conftest import ROOT, unavailable
from tests.fuzz.targets import TARGETS

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


def fuzz(target: str, seconds: int, found: Path, *more: str) -> subprocess.CompletedProcess[str]:
    # By a shell: whatever we start ourselves counts our memory as its own peak, and the fuzzer bounds that.
    command = ["sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-m", "tests.fuzz"]
    command += [target, f"--seconds={seconds}", f"--found={found}", *more]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False, timeout=200)


def told(done: subprocess.CompletedProcess[str], found: Path) -> str:
    """What broke, on which input, and how to see it again."""
    inputs = "\n".join(f"{path.name}: {path.read_bytes()!r:.2000}" for path in sorted(found.glob("*")))
    return f"{done.stderr[-3000:]}\n{inputs}\nagain: python -m tests.fuzz TARGET --input FILE"


@pytest.mark.parametrize("target", TARGETS)
def test_a_parser_stands_fuzzing(target: str, tmp_path: Path) -> None:
    done = fuzz(target, SECONDS, tmp_path) if SECONDS else fuzz(target, 60, tmp_path, *ALIKE)
    assert done.returncode == 0 and not list(tmp_path.iterdir()), told(done, tmp_path)
    assert "stat::number_of_executed_units" in done.stderr, told(done, tmp_path)


@pytest.mark.parametrize(
    ("target", "sign", "kept"),
    [("crashes", "KeyError", "crash-"), ("hangs", "timeout", "timeout-"), ("swells", "out-of-memory", "oom-")],
)
def test_a_broken_parser_is_noticed_and_its_input_kept(target: str, sign: str, kept: str, tmp_path: Path) -> None:
    done = fuzz(target, 60, tmp_path, f"--timeout={10 if target == 'hangs' else 60}", "--memory=600", "--seed=1")
    assert done.returncode != 0
    assert sign in done.stderr + done.stdout
    (file,) = tmp_path.iterdir()
    assert file.name.startswith(kept)
    assert file.read_bytes().startswith(b"!")
    assert repr(file.read_bytes())[:20] in told(done, tmp_path)
