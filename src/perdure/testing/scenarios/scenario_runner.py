"""Runs scenario files on an engine and tells how each went."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

from perdure.errors import DefinitionError, InvariantBroken
from perdure.testing.scenarios.embedded_world import EmbeddedWorld
from perdure.testing.scenarios.reports import unreadable
from perdure.testing.scenarios.scenario import Outcome, Scenario
from perdure.testing.scenarios.scenario_loader import load_scenario
from perdure.testing.scenarios.scenario_player import play

Progress = Callable[[str, int, int], None]
"""Told the file, how many are done and how many there are."""


async def run_files(paths: Iterable[Path], store: str = "", progress: Progress | None = None) -> list[Outcome]:
    """Every file in its own world; one that does not load has failed, and the others still run."""
    files = list(paths)
    outcomes: list[Outcome] = []
    for number, path in enumerate(files):
        if progress is not None:
            progress(str(path), number, len(files))
        outcomes.append(await _run_file(path, store))
    return outcomes


async def _run_file(path: Path, store: str) -> Outcome:
    try:
        return await run_scenario(load_scenario(path), store)
    except DefinitionError as error:
        return unreadable(str(path), [problem.sentence() for problem in error.problems])
    except InvariantBroken as error:
        return unreadable(str(path), [str(error)])
    except Exception as error:  # whatever broke, it is this file's failure, and what the others came to is told
        place = traceback.extract_tb(error.__traceback__)[-1]
        fact = f"{type(error).__name__}: {error} ({Path(place.filename).name}, line {place.lineno})"
        return unreadable(str(path), [f"Expected to play the scenario, but something broke: {fact}."])


async def run_scenario(scenario: Scenario, store: str = "") -> Outcome:
    """On the embedded engine: a SQLite file of its own unless a store is named, then under a tenant of its own."""
    async with EmbeddedWorld.open(scenario, store) as world:
        return await play(scenario, world)
