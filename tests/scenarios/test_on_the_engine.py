"""The scenarios of every element on the embedded engine with crashes and with duplicates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from perdure.testing.scenarios.embedded_world import EmbeddedWorld
from perdure.testing.scenarios.fault_variants import with_crashes, with_duplicates
from perdure.testing.scenarios.scenario import Scenario
from perdure.testing.scenarios.scenario_player import play
from perdure.testing.scenarios.scenario_runner import run_scenario
from tests.depth import sampled
from tests.scenarios.cases import ELEMENTS, FILES, WITH_MESSAGES, end_of, name_of, scenario_of

MONTHLY = ELEMENTS / "timer-event" / "boundary-every-month.yaml"
each_file = pytest.mark.parametrize("path", FILES, ids=name_of)
some_files = pytest.mark.parametrize("path", sampled(FILES, 40), ids=name_of)
some_with_messages = pytest.mark.parametrize("path", sampled(WITH_MESSAGES, 20), ids=name_of)
on_postgres = pytest.mark.parametrize("path", sampled(sorted({*FILES[::6], MONTHLY}), 6), ids=name_of)


@some_files
async def test_a_crash_after_every_step_changes_nothing(path: Path) -> None:
    await assert_same_end(path, with_crashes)


@some_with_messages
async def test_every_message_delivered_twice_changes_nothing(path: Path) -> None:
    await assert_same_end(path, with_duplicates)


@on_postgres
async def test_crashes_change_nothing_on_postgres(path: Path, postgres_url: str) -> None:
    await assert_same_end(path, with_crashes, postgres_url)


async def assert_same_end(path: Path, made_worse: Callable[[Scenario], Scenario], store: str = "") -> None:
    """What was expected holds, the end is that of the scenario as it is, and the store is sound afterwards."""
    scenario = scenario_of(path)
    played = made_worse(scenario)
    async with EmbeddedWorld.open(played, store) as world:
        outcome = await play(played, world)
        findings = await world.audit()
    assert outcome.passed, (outcome.failures, outcome.actual)
    assert not findings
    assert end_of(outcome.actual) == end_of((await run_scenario(scenario)).actual)
