"""What tests/conftest.py and tests/depth.py promise to every other test, shown on one small suite run apart."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from tests.conftest import parse_seeds
from tests.depth import LONG_SUITES, PAIRED_SUITES, TESTS, run_long_tests_first
from tests.house.tree import ROOT

SUITE = """
import asyncio

import pytest
from hypothesis import given, settings, strategies
from perdure.testing.postgres_service import PostgresService, ServiceUnavailable
from tests.depth import sampled

@pytest.fixture(autouse=True, scope="session")
def none_here():
    def start(self):
        raise ServiceUnavailable("none here")
    PostgresService.start = start

async def test_good(): pass

async def test_wrong(tmp_path): assert tmp_path is None

@given(strategies.integers())
async def test_property(x): assert x < 5

async def test_leftover():
    kept = asyncio.create_task(asyncio.Event().wait(), name="lost")

def test_store(store_url): pass

@pytest.mark.both_stores
def test_both_stores(store_url): pass

@pytest.mark.parametrize("number", range(6))
@pytest.mark.both_stores(one_in=3)
def test_some_on_both(store_url, number): pass

def test_shared(shared_folder): pass

def test_seed(seed): assert isinstance(seed, int)

@pytest.mark.deep
def test_dear(): pass

@pytest.mark.parametrize("number", sampled(range(10), 2))
def test_sampled(number): pass

@settings(max_examples=200)
@given(strategies.integers(0, 10**9))
def test_drawn(x):
    with open("drawn.txt", "a") as file:
        print(x, file=file)
"""
LEFT_OUT = ("cacheprovider", "faker", "langsmith_plugin", "schemathesis")
"""Plugins that this suite does not need, and that would take longer to load than the suite to run."""


class Ran(NamedTuple):
    """The outcome of every test that ran, by name in their order; what was printed; how many examples were drawn."""

    outcomes: Mapping[str, str]
    printed: str
    drawn: int


def run_suite(folder: Path, *options: str, **variables: str) -> Ran:
    (folder / "tests" / "room").mkdir(parents=True)
    for name in ("conftest.py", "depth.py"):
        shutil.copy(ROOT / "tests" / name, folder / "tests" / name)
    (folder / "tests" / "room" / "test_suite.py").write_text(SUITE, encoding="utf-8")
    left_out = " ".join(f"-p no:{name}" for name in LEFT_OUT)
    marks = "markers =\n  deep\n  both_stores\n"
    (folder / "pytest.ini").write_text(f"[pytest]\naddopts = -ra {left_out}\n{marks}", encoding="utf-8")
    dropped = ("PERDURE_", "PYTEST_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "tests", "--junit-xml=ran.xml", *options],
        cwd=folder, env={**kept, **variables}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    cases = ElementTree.parse(folder / "ran.xml").iter("testcase")
    outcomes = {case.attrib["name"]: next((child.tag for child in case), "passed") for case in cases}
    return Ran(outcomes, done.stdout + done.stderr, len((folder / "drawn.txt").read_text().split()))


@pytest.fixture(scope="module")
def normal(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """As 'make test' runs it, where services may be missing."""
    return run_suite(tmp_path_factory.mktemp("normal"), "--seeds=7,10-12,7,fresh:2", "-n2")


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """As 'make test-deep' runs it, apart from everything and with services required."""
    folder = tmp_path_factory.mktemp("deep") / "apart" / "project"
    return run_suite(folder, "--depth=deep", "--seeds=3", PERDURE_REQUIRE_SERVICES="1")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Both depths at once."""
    folder = tmp_path_factory.mktemp("all") / "apart" / "project"
    return run_suite(folder, "--depth=all", "--seeds=3", PERDURE_REQUIRE_SERVICES="1")


def test_an_async_test_is_run_and_can_fail(normal: Ran) -> None:
    assert (normal.outcomes["test_good"], normal.outcomes["test_wrong"]) == ("passed", "failure")


def test_an_async_property_is_run_and_can_fail(normal: Ran) -> None:
    assert normal.outcomes["test_property"] == "failure"
    assert "assert 5 < 5" in normal.printed  # the smallest of all that fail


def test_a_test_that_leaves_a_task_behind_fails_by_name(normal: Ran) -> None:
    assert normal.outcomes["test_leftover"] == "failure"
    assert "unfinished tasks" in normal.printed
    assert "lost" in normal.printed


def test_a_missing_service_is_a_loud_skip(normal: Ran) -> None:
    assert normal.outcomes["test_both_stores[postgres]"] == "skipped"
    assert "SERVICE MISSING: none here" in normal.printed


def test_a_missing_service_is_an_error_where_services_are_required(deep: Ran, whole: Ran) -> None:
    assert deep.outcomes["test_store[postgres]"] == "error"
    assert "none here" in deep.printed
    assert whole.outcomes["test_shared"] == "error"


def test_seeds_are_numbers_ranges_and_fresh_ones(normal: Ran) -> None:
    seeds = [outcome for name, outcome in normal.outcomes.items() if name.startswith("test_seed[")]
    assert seeds == ["passed"] * 6


def test_a_seed_that_is_none_is_refused() -> None:
    with pytest.raises(pytest.UsageError, match="'x' is not a number"):
        parse_seeds("7,x")


def test_a_normal_and_a_deep_run_share_all_tests_between_them(normal: Ran, deep: Ran, whole: Ran) -> None:
    names = {name for name in normal.outcomes if not name.startswith("test_seed[")}
    dear = {"test_dear", "test_store[postgres]", "test_seed[3]", *(f"test_sampled[{n}]" for n in range(10) if n % 5)}
    dear |= {f"test_some_on_both[postgres-{n}]" for n in range(6) if n % 3}
    assert {"test_good", "test_store[sqlite]", "test_both_stores[postgres]", "test_sampled[0]"} <= names
    assert set(deep.outcomes) - names == dear
    assert names | set(deep.outcomes) == set(whole.outcomes)


def test_a_property_draws_a_share_of_its_examples_normally_and_all_of_them_in_depth(normal: Ran, deep: Ran) -> None:
    assert set(normal.outcomes) & set(deep.outcomes) == {"test_property", "test_drawn"}
    assert (normal.drawn, deep.drawn) == (50, 200)


def test_each_worker_begins_with_long_tests_and_every_test_is_kept() -> None:
    items = [Item(TESTS / folder / f"test_{number}.py") for folder in ("house", "payload") for number in range(5)]
    ordered = list(items)
    run_long_tests_first(ordered, 2)  # type: ignore[arg-type]
    assert [item.path.parent.name for item in ordered] == [
        *["house"] * 2,
        *["payload"] * 2,
        *["house"] * 3,
        *["payload"] * 3,
    ]
    assert sorted(ordered) == items


def test_long_suites_and_paired_suites_are_folders_of_tests() -> None:
    assert not [name for name in (*LONG_SUITES, *PAIRED_SUITES) if not (TESTS / name).is_dir()]


class Item(NamedTuple):
    path: Path
