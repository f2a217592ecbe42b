"""Scenario cases of the conformance suite: each scenario file is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from perdure.testing.conformance.case import Case, EngineWorld
from perdure.testing.scenarios import scenario as v
from perdure.testing.scenarios.scenario_loader import load_scenario
from perdure.testing.scenarios.scenario_player import play


def scenario_cases(files: Iterable[Path]) -> list[Case]:
    """One case for each file, named after its folder and itself."""
    found = []
    for file in files:
        scenario = load_scenario(file)
        found.append(Case(f"{file.parent.name}/{file.stem}", scenario, _play, needs_of(scenario)))
    return found


def needs_of(scenario: v.Scenario) -> frozenset[str]:
    """The capabilities that the steps of a scenario take."""
    needs = {need for step in scenario.steps if (need := _need(step))}
    ids = Counter(step.id for step in scenario.steps if isinstance(step, v.Message | v.Signal) and step.id)
    return frozenset(needs | {"message_once"} if any(count > 1 for count in ids.values()) else needs)


def _need(step: v.Step) -> str:
    match step:
        case v.Suspend() | v.Resume():
            return "suspend"
        case v.Modify():
            return "modify"
        case v.Migrate():
            return "migrate"
        case v.Cancel(compensates=True):
            return "compensate"
        case v.Advance():
            return "test_clock"
        case _:
            return ""


async def _play(scenario: v.Scenario, world: EngineWorld) -> list[str]:
    return (await play(scenario, world)).failures
