"""Depth: which tests a normal run takes, and which a deep run adds.

| test | normal | deep |
|---|---|---|
| plain | runs | |
| marked `deep`, or a parameter marked so | | runs |
| on Postgres through `store_url`, in a suite of `PAIRED_SUITES` | runs | |
| on Postgres through `store_url`, marked `both_stores(one_in=6)` | every sixth of its parameters | the others |
| on Postgres through `store_url`, elsewhere | | runs |
| a property | a quarter of its examples | all of them |
| a kill at every commit | every eighth commit | every commit |
| a change of every cell of a table | the first row, a fourth of the others | every cell |

A test named by its node id always runs.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import settings

Depth = Literal["normal", "deep", "all"]

TESTS = Path(__file__).resolve().parent
PAIRED_SUITES = frozenset(
    {"clocks", "conformance", "crash", "durability", "kernel", "replay", "services", "store", "upgrade", "work"}
)
"""The folders of tests whose subject is the store: both stores belong to their normal depth.

Elsewhere the mark `both_stores` says so of a module or a test; `both_stores(one_in=6)` says it of every sixth of a
test's parameters, for tests of many cases that each show one thing on either store.
"""

LONG_SUITES = ("acceptance", "durability", "house", "simulation", "crash", "examples")
"""The folders whose tests take seconds each: they run first, so that all workers end at the same time."""

EXAMPLES_SHARE = 4
"""A normal run draws every fourth of the examples a property asks for."""
LEAST_EXAMPLES = 10

some_kills = pytest.mark.parametrize(
    "every", [pytest.param(8, id="some kills"), pytest.param(1, id="all kills", marks=pytest.mark.deep)]
)
"""For a test that kills a process at one commit after the other: a normal run takes every eighth, a deep run each."""


some_cells = pytest.mark.parametrize(
    "every", [pytest.param(4, id="some cells"), pytest.param(1, id="all cells", marks=pytest.mark.deep)]
)
"""For a test that changes one cell of a table after the other: see `tests/store/audit/bit_flips.py`."""


def add_depth_option(parser: pytest.Parser) -> None:
    parser.addoption(
        "--depth",
        choices=["normal", "deep", "all"],
        default=None,
        help="normal: what 'make test' runs; deep: what 'make test-deep' adds; all: both",
    )


def depth_of(config: pytest.Config) -> Depth:
    """The depth asked for; tests named by their node id run whatever their depth."""
    chosen: Depth | None = config.getoption("--depth")
    if chosen is not None:
        return chosen
    return "all" if any("::" in argument for argument in config.args) else "normal"


def select_by_depth(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests of the other depth, and let properties draw as many examples as the depth allows."""
    depth = depth_of(config)
    if depth == "all":
        return
    kept = [item for item in items if is_deep(item) == (depth == "deep") or (depth == "deep" and is_property(item))]
    if depth == "normal":
        draw_fewer_examples(kept)
    if len(kept) < len(items):
        chosen = {id(item) for item in kept}
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in chosen])
        items[:] = kept


def run_long_tests_first(items: list[pytest.Item], workers: int) -> None:
    """Order tests so that each worker, which begins with its own contiguous part, begins with long ones."""
    long, short = [], []
    for item in items:
        (long if item.path.relative_to(TESTS).parts[0] in LONG_SUITES else short).append(item)
    items[:] = [item for worker in range(workers) for part in (long, short) for item in _part(part, worker, workers)]


def _part(items: list[pytest.Item], worker: int, workers: int) -> list[pytest.Item]:
    return items[len(items) * worker // workers : len(items) * (worker + 1) // workers]


def is_deep(item: pytest.Item) -> bool:
    """Whether only a deep run takes this test."""
    return item.get_closest_marker("deep") is not None or _is_second_store(item)


def is_property(item: pytest.Item) -> bool:
    """Whether hypothesis draws what this test is given."""
    return hasattr(getattr(item, "obj", None), "hypothesis")


def draw_fewer_examples(items: Iterable[pytest.Item]) -> None:
    """Let each property draw its share of examples; parameters of one test share its settings."""
    for test in {id(item.obj): item.obj for item in items if is_property(item)}.values():  # type: ignore[attr-defined]
        full = test._hypothesis_internal_use_settings
        share = max(LEAST_EXAMPLES, full.max_examples // EXAMPLES_SHARE)
        test._hypothesis_internal_use_settings = settings(full, max_examples=min(full.max_examples, share))


def _is_second_store(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    if call is None or call.params.get("store_url") != "postgres":
        return False
    mark = item.get_closest_marker("both_stores")
    if mark is not None and "one_in" in mark.kwargs:
        return _place(call.indices) % int(mark.kwargs["one_in"]) != 0
    if item.path.parent == TESTS or mark is not None:
        return False
    return item.path.relative_to(TESTS).parts[0] not in PAIRED_SUITES


def _place(indices: Mapping[str, int]) -> int:
    """The place of a case on the diagonals of its parameters, so that a share of them meets every value of each."""
    return sum(place for name, place in indices.items() if name != "store_url")


def sampled(values: Iterable[Any], count: int) -> list[Any]:
    """Parameters of which a normal run takes about `count`, evenly spread, and a deep run the others."""
    every = list(values)
    chosen = set(_spread(every, count))
    return [
        value if number in chosen else pytest.param(value, marks=pytest.mark.deep) for number, value in enumerate(every)
    ]


def _spread(values: Sequence[Any], count: int) -> list[int]:
    if count >= len(values):
        return list(range(len(values)))
    return [number * len(values) // count for number in range(count)]


def killed_commits(every: int, name: str, commits: int) -> range:
    """The numbers of the commits a process is killed at: every so many, from one of the first, chosen by `name`."""
    return range(1 + zlib.crc32(name.encode()) % every, commits + 1, every)
