"""The Makefile explains itself, and what integration runs is what a developer runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.house.tree import ROOT

SCRIPT = ROOT / ".ci" / "run"
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_every_target_explains_itself() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):(?!=)", MAKEFILE, re.MULTILINE))
    explained = set(re.findall(r"^([a-z][a-z-]*):.*## \S", MAKEFILE, re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert phony is not None
    assert targets == explained == set(phony.group(1).split())


def test_the_commands_a_newcomer_needs_are_there() -> None:
    assert {"help", "demo", "test", "test-deep", "check", "bench", "simulate", "clean"} <= set(
        re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE)
    )


def test_make_alone_shows_the_help() -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not on this machine")
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(["make"], cwd=ROOT, env=plain, capture_output=True, text=True, check=True)
    assert "demo" in done.stdout
    assert "test" in done.stdout


def test_tests_keep_two_cores_busy_while_some_of_them_wait() -> None:
    assert re.search(r"^PYTEST = .*-n 3 --dist worksteal$", MAKEFILE, re.MULTILINE)


TOOL = """#!/bin/sh
tool=$(basename "$0")
echo "$tool $*" >>ran.txt
echo "told by $tool"
[ "$tool" != "$BROKEN" ]
"""


@pytest.mark.parametrize("broken", ["", "ruff", "mypy", "lint-imports", "python", "pytest"])
def test_types_are_checked_beside_the_tests_and_fail_as_they_do(tmp_path: Path, broken: str) -> None:
    done = make(tmp_path, "test", broken)
    ran = (tmp_path / "ran.txt").read_text(encoding="utf-8").splitlines()
    assert bool(done.returncode) is bool(broken), done.stdout + done.stderr
    if broken != "ruff":
        assert {"mypy ", "python dashboard/build.py"} <= set(ran)
        assert any(line.startswith("pytest -n 3 --dist worksteal -k word") for line in ran) is (broken != "python")
        assert ("told by mypy" in done.stdout) is (broken in ("mypy", "lint-imports"))
        assert ("Types and import floors hold." in done.stdout) is (broken not in ("mypy", "lint-imports"))


def test_a_deep_run_takes_what_the_normal_one_leaves_out(tmp_path: Path) -> None:
    assert make(tmp_path, "test-deep", "").returncode == 0
    ran = (tmp_path / "ran.txt").read_text(encoding="utf-8").splitlines()
    assert ran == ["python dashboard/build.py", "pytest -n 3 --dist worksteal --depth=deep -k word"]


def make(folder: Path, target: str, broken: str) -> subprocess.CompletedProcess[str]:
    """Make a target apart, with tools that only say that they ran."""
    if shutil.which("make") is None:
        pytest.skip("make is not on this machine")
    tools = [f".venv/bin/{name}" for name in ("ruff", "mypy", "lint-imports", "python", "pytest")]
    for name in ("uv.lock", "pyproject.toml", "build/uv/bin/uv", ".venv/ready", *tools):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(TOOL if name in tools else "", encoding="utf-8")
        (folder / name).chmod(0o755)
    os.utime(folder / ".venv" / "ready", (2**32, 2**32))
    shutil.copy(ROOT / "Makefile", folder / "Makefile")
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", "--no-print-directory", target, "ARGS=-k word"]
    return subprocess.run(
        command, cwd=folder, env={**plain, "BROKEN": broken}, capture_output=True, text=True, check=False
    )


def test_integration_asks_for_all_services_and_stops_at_twenty_failures() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    assert os.access(SCRIPT, os.X_OK)
    assert "set -euo pipefail" in text
    assert "export PERDURE_REQUIRE_SERVICES=1" in text
    assert 'export PYTEST_ADDOPTS="--maxfail=20 --durations=15"' in text


MAKE = """#!/bin/sh
target=$2
echo "$target with services $PERDURE_REQUIRE_SERVICES" >>made.txt
echo "===== slowest 15 durations ====="
echo "1.00s call the longest of $target"
echo "===== closing line of $target ====="
[ "$target" != "$BROKEN" ]
"""


@pytest.mark.parametrize("broken", ["", "test", "test-deep"])
def test_integration_runs_both_depths_and_says_what_took_longest_and_how_long(tmp_path: Path, broken: str) -> None:
    programs = tmp_path / "programs"
    for folder in (tmp_path / ".ci", programs):
        folder.mkdir()
    shutil.copy(SCRIPT, tmp_path / ".ci" / "run")
    for name, text in (("make", MAKE), ("chromium", "#!/bin/sh\n"), ("postgres", "#!/bin/sh\n")):
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    variables = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "BROKEN": broken}
    done = subprocess.run([tmp_path / ".ci" / "run"], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == bool(broken), done.stderr
    runs = [f"{target} with services 1" for target in (".venv/ready", "test", "test-deep")]
    assert (tmp_path / "made.txt").read_text(encoding="utf-8").splitlines() == runs
    closing = done.stdout[done.stdout.index("== make test\n") :]
    for target in ("test", "test-deep"):
        assert f"the longest of {target}\n" in closing
        assert f"closing line of {target} " in closing
        assert re.search(rf"^{target} +\d+ s  {'FAILED' if target == broken else 'passed'}$", closing, re.MULTILINE)
    assert re.search(r"^total +\d+ s of 1800$", closing, re.MULTILINE)
