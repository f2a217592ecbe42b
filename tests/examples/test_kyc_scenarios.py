"""The scenarios of the KYC example hold on both stores, with crashes between all steps and with messages twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.testing.scenarios import (
    find_scenarios,
    load_scenario,
    read_scenario,
    run_scenario,
    with_crashes,
    with_duplicates,
)

KYC = Path(__file__).parents[2] / "examples" / "kyc"
SCENARIOS = find_scenarios([KYC / "scenarios"])
NAMES = [str(path.relative_to(KYC / "scenarios").with_suffix("")) for path in SCENARIOS]


@pytest.mark.req("V26")
@pytest.mark.req("X15")
@pytest.mark.req("X23")
@pytest.mark.parametrize("path", SCENARIOS, ids=NAMES)
async def test_a_scenario_of_the_example_holds(path: Path, store_url: str) -> None:
    outcome = await run_scenario(load_scenario(path), store_url)
    assert outcome.passed, outcome


@pytest.mark.req("V13")
@pytest.mark.parametrize("path", SCENARIOS, ids=NAMES)
async def test_a_scenario_of_the_example_holds_with_a_crash_after_every_step(path: Path, sqlite_url: str) -> None:
    outcome = await run_scenario(with_crashes(load_scenario(path)), sqlite_url)
    assert outcome.passed, outcome


@pytest.mark.parametrize("path", SCENARIOS, ids=NAMES)
async def test_a_scenario_of_the_example_holds_with_every_message_delivered_twice(path: Path, sqlite_url: str) -> None:
    outcome = await run_scenario(with_duplicates(load_scenario(path)), sqlite_url)
    assert outcome.passed, outcome


async def test_a_scenario_that_expects_the_wrong_thing_fails() -> None:
    folder = KYC / "scenarios" / "case"
    text = (folder / "approved.yaml").read_text(encoding="utf-8")
    wrong = read_scenario(text.replace("state: completed", "state: cancelled"), "wrong.yaml", folder)
    assert not (await run_scenario(wrong)).passed
