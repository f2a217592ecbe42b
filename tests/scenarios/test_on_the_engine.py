"""The scenarios of every element on the embedded engine: as they are, with crashes, with duplicates."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.testing.scenarios.pure import run_pure
from perdure.testing.scenarios.running import run_scenario
from perdure.testing.scenarios.variants import with_crashes, with_duplicates
from tests.scenarios.cases import FILES, end_of, name_of, scenario_of

each_file = pytest.mark.parametrize("path", FILES, ids=name_of)


@pytest.mark.req("V13", "X23")
@each_file
async def test_it_holds_on_the_engine_and_as_on_the_machine_alone(path: Path) -> None:
    scenario = scenario_of(path)
    outcome = await run_scenario(scenario)
    assert outcome.passed, (outcome.failures, outcome.actual)
    assert end_of(outcome.actual) == end_of(run_pure(scenario).actual)


@each_file
async def test_a_crash_after_every_step_changes_nothing(path: Path) -> None:
    scenario = scenario_of(path)
    crashed = await run_scenario(with_crashes(scenario))
    assert crashed.passed, (crashed.failures, crashed.actual)
    assert end_of(crashed.actual) == end_of(run_pure(scenario).actual)


@each_file
async def test_every_message_delivered_twice_changes_nothing(path: Path) -> None:
    scenario = scenario_of(path)
    twice = await run_scenario(with_duplicates(scenario))
    assert twice.passed, (twice.failures, twice.actual)
    assert end_of(twice.actual) == end_of(run_pure(scenario).actual)
