"""What tests/conftest.py promises to every other test, shown on small suites run apart."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT

MISSING = """
import pytest
from perdure.testing.services import PostgresService, ServiceUnavailable

@pytest.fixture(autouse=True, scope="session")
def none_here():
    def start(self):
        raise ServiceUnavailable("none here")
    PostgresService.start = start
"""

PROPERTY = """
from hypothesis import given, strategies

@given(strategies.integers())
async def test_bad(x):
    assert x < 5
"""

LEFTOVER = """
import asyncio

async def test_bad():
    kept = asyncio.create_task(asyncio.Event().wait(), name="lost")
"""


LEFT_OUT = ("cacheprovider", "faker", "langsmith_plugin", "schemathesis")
"""Plugins that these suites do not need, and that would take longer to load than the suites to run."""


def run_suite(folder: Path, text: str, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    (folder / "tests").mkdir()
    for name in ("conftest.py", "depth.py"):
        shutil.copy(ROOT / "tests" / name, folder / "tests" / name)
    (folder / "tests" / "test_suite.py").write_text(text, encoding="utf-8")
    left_out = " ".join(f"-p no:{name}" for name in LEFT_OUT)
    (folder / "pytest.ini").write_text(f"[pytest]\naddopts = -ra {left_out}\n", encoding="utf-8")
    dropped = ("PERDURE_", "PYTEST_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    command = [sys.executable, "-m", "pytest", "tests", *options]
    return subprocess.run(
        command, cwd=folder, env={**kept, **variables}, capture_output=True, text=True, check=False, timeout=120
    )


def test_an_async_test_is_run_and_can_fail(tmp_path: Path) -> None:
    text = "async def test_good(): pass\nasync def test_bad(tmp_path): assert tmp_path is None\n"
    assert "1 failed, 1 passed" in run_suite(tmp_path, text).stdout


def test_an_async_property_is_run_and_can_fail(tmp_path: Path) -> None:
    text = (
        "from hypothesis import given, strategies as st\n@given(st.integers())\nasync def test_bad(x): assert x < 5\n"
    )
    done = run_suite(tmp_path, text)
    assert "1 failed" in done.stdout
    assert "assert 5 < 5" in done.stdout  # the smallest of all that fail


def test_a_test_that_leaves_a_task_behind_fails_by_name(tmp_path: Path) -> None:
    text = (
        "import asyncio\nasync def test_bad():\n    kept = asyncio.create_task(asyncio.Event().wait(), name='lost')\n"
    )
    done = run_suite(tmp_path, text)
    assert "1 failed" in done.stdout
    assert "unfinished tasks" in done.stdout
    assert "lost" in done.stdout


@pytest.mark.parametrize(
    ("required", "outcome"), [("", "1 passed, 1 skipped"), ("1", "1 passed, 1 error")], ids=["optional", "required"]
)
def test_a_missing_service_is_a_loud_skip_or_a_failure(tmp_path: Path, required: str, outcome: str) -> None:
    text = MISSING + "\ndef test_it(store_url): pass\n"
    done = run_suite(tmp_path, text, PERDURE_REQUIRE_SERVICES=required)
    assert outcome in done.stdout
    assert "none here" in done.stdout


def test_a_missing_shared_folder_fails_where_services_are_required(tmp_path: Path) -> None:
    project = tmp_path / "apart" / "project"
    project.mkdir(parents=True)
    done = run_suite(project, "def test_it(shared_folder): pass\n", PERDURE_REQUIRE_SERVICES="1")
    assert "1 error" in done.stdout


def test_seeds_are_numbers_ranges_and_fresh_ones(tmp_path: Path) -> None:
    text = "def test_it(seed): assert isinstance(seed, int)\n"
    done = run_suite(tmp_path, text, "--seeds=7,10-12,7,fresh:2", "-n2")
    assert "6 passed" in done.stdout


def test_a_seed_that_is_none_is_refused(tmp_path: Path) -> None:
    done = run_suite(tmp_path, "def test_it(seed): pass\n", "--seeds=x")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "'x' is not a number" in done.stdout + done.stderr


DEPTHS = """
import pytest
from tests.depth import sampled

def test_plain(): pass

@pytest.mark.deep
def test_dear(): pass

@pytest.mark.parametrize("number", sampled(range(10), 2))
def test_sampled(number): pass
"""


@pytest.mark.parametrize(
    ("depth", "outcome"),
    [("normal", "3 passed, 9 deselected"), ("deep", "9 passed, 3 deselected"), ("all", "12 passed")],
)
def test_a_normal_and_a_deep_run_share_all_tests_between_them(tmp_path: Path, depth: str, outcome: str) -> None:
    assert outcome in run_suite(tmp_path, DEPTHS, f"--depth={depth}").stdout
