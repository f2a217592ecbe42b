"""Every element: its normal path, interruptions, failures and retries, cancelling, and what must not happen."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.bpmn.xml import read_model
from perdure.testing.scenarios.pure import run_pure
from perdure.testing.scenarios.variants import with_crashes, with_duplicates
from tests.depth import sampled
from tests.scenarios.cases import FILES, WITH_MESSAGES, end_of, name_of, scenario_of
from tests.scenarios.make import written

some_files = pytest.mark.parametrize("path", sampled(FILES, 60), ids=name_of)


def test_the_models_on_disk_are_those_of_their_sketches() -> None:
    for path, text in written():
        stored = read_model(path.read_bytes(), path.name).definitions
        assert stored == read_model(text, path.name).definitions, f"{path.name}: run python -m tests.scenarios.make"


@some_files
def test_it_holds_on_the_machine_alone(path: Path) -> None:
    outcome = run_pure(scenario_of(path))
    assert outcome.passed, (outcome.failures, outcome.actual)


@some_files
def test_a_crash_after_every_step_changes_nothing_on_the_machine_alone(path: Path) -> None:
    scenario = scenario_of(path)
    crashed = run_pure(with_crashes(scenario))
    assert crashed.passed, (crashed.failures, crashed.actual)
    assert end_of(crashed.actual) == end_of(run_pure(scenario).actual)


@pytest.mark.parametrize("path", sampled(WITH_MESSAGES, 20), ids=name_of)
def test_every_message_delivered_twice_changes_nothing_on_the_machine_alone(path: Path) -> None:
    scenario = scenario_of(path)
    twice = run_pure(with_duplicates(scenario))
    assert twice.passed, (twice.failures, twice.actual)
    assert end_of(twice.actual) == end_of(run_pure(scenario).actual)
