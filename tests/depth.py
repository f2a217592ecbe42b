"""Depth: which tests a normal run takes, and which a deep run adds.

| test | normal | deep |
|---|---|---|
| plain | runs | |
| marked `deep`, or a parameter marked so | | runs |
| on Postgres through `store_url`, in a suite of `PAIRED_SUITES` | runs | |
| on Postgres through `store_url`, elsewhere | | runs |

A test named by its node id always runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

Depth = Literal["normal", "deep", "all"]

TESTS = Path(__file__).resolve().parent
PAIRED_SUITES = frozenset(
    {"audit", "conformance", "crash", "crud", "durability", "engine", "engines", "kernel", "replay", "services", "work"}
)
"""The folders of tests whose subject is the store: both stores belong to their normal depth."""


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
    """Deselect the tests of the other depth."""
    depth = depth_of(config)
    if depth == "all":
        return
    kept = [item for item in items if is_deep(item) == (depth == "deep")]
    if len(kept) < len(items):
        chosen = {id(item) for item in kept}
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in chosen])
        items[:] = kept


def is_deep(item: pytest.Item) -> bool:
    """Whether only a deep run takes this test."""
    return item.get_closest_marker("deep") is not None or _is_second_store(item)


def _is_second_store(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    if call is None or call.params.get("store_url") != "postgres":
        return False
    if item.path.parent == TESTS or item.get_closest_marker("both_stores") is not None:
        return False
    return item.path.relative_to(TESTS).parts[0] not in PAIRED_SUITES


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
