"""Every element of the engine is proved as it runs: what scenarios visit, the proof has seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.bpmn.proof import Proof
from perdure.bpmn.proof.environment import Environment
from perdure.bpmn.proof.subject import deployed_of
from perdure.bpmn.xml import read_model
from perdure.testing.scenarios import Scenario, find_scenarios, load_scenario, run_pure
from perdure.testing.scenarios import values as v
from tests.house.tree import ROOT

ELEMENTS = ROOT / "tests" / "scenarios" / "elements"
BY_HAND = (v.Modify, v.Migrate, v.Deploy, v.Retry, v.Resolve, v.Cancel)
"""What a proof does not cover."""


def seen(scenario: Scenario) -> set[str]:
    """Every element the proof has seen, when verbs may raise what the scenario lets them raise."""
    raised = {verb: tuple(each.business_error for each in does) for verb, does in scenario.verbs.items()}
    may_raise = {verb: [code for code in codes if code] for verb, codes in raised.items() if any(codes)}
    model = read_model(scenario.model.read_bytes(), str(scenario.model))
    found: set[str] = set()
    for process in model.definitions.executable():
        proof = Proof(deployed_of(model.definitions, process, {}), (), Environment(may_raise))
        proof.verdict()
        found |= proof.explorer.visited
    return found


@pytest.mark.req("V10")
@pytest.mark.parametrize("folder", sorted(ELEMENTS.iterdir()), ids=lambda folder: folder.name)
def test_what_scenarios_visit_the_proof_has_seen(folder: Path) -> None:
    for file in find_scenarios([folder]):
        scenario = load_scenario(file)
        outcome = run_pure(scenario)
        if outcome.actual.deploy == "accepted" and not any(isinstance(step, BY_HAND) for step in scenario.steps):
            assert set(outcome.actual.visited) <= seen(scenario), file.name
