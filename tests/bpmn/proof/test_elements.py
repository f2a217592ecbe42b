"""Every element of the engine is proved as it runs: what scenarios visit, the proof has seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.bpmn import model as m
from perdure.bpmn.proof import Proof, prove
from perdure.bpmn.proof.proof_subject import deployed_of
from perdure.bpmn.proof.verb_effects import Environment
from perdure.bpmn.xml import read_model
from perdure.testing.scenarios import Scenario, find_scenarios, load_scenario, run_scenario
from perdure.testing.scenarios import scenario as v
from perdure.verb_contract import FlagContract
from tests.bpmn.proof.models import definitions
from tests.depth import sampled
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


@pytest.mark.parametrize("folder", sampled(sorted(ELEMENTS.iterdir()), 12), ids=lambda folder: folder.name)
async def test_what_scenarios_visit_the_proof_has_seen(folder: Path) -> None:
    for file in find_scenarios([folder]):
        scenario = load_scenario(file)
        outcome = await run_scenario(scenario)
        if outcome.actual.deploy == "accepted" and not any(isinstance(step, BY_HAND) for step in scenario.steps):
            assert set(outcome.actual.visited) <= seen(scenario), file.name


@pytest.mark.parametrize("is_reduced", [True, False])
@pytest.mark.parametrize(
    ("said", "dead"),
    [
        ({}, set()),
        ({"returns_all": False}, {"a"}),
        ({"mappings": (m.Mapping("output", m.Value("orch_y", "flag"), "orch_y"),)}, {"a"}),
        ({"mappings": (m.Mapping("output", m.Value("orch_x", "flag"), "orch_x"),)}, set()),
    ],
)
def test_a_call_writes_the_flags_that_come_back_and_no_other(
    said: dict[str, Any], dead: set[str], is_reduced: bool
) -> None:
    model = definitions(
        "start -> c -> xor1 -> end1 [default]", "xor1 -> a [orch_x = 1]", "a -> end2",
        nodes=(m.CallActivity(id="c", process="q", **said),),
    )  # fmt: skip
    flags = [FlagContract("orch_x", "integer", initial=0), FlagContract("orch_y", "integer", initial=0)]
    verdict = prove(model, flags=flags, writes={"q": ["orch_x", "orch_y"]}, is_reduced=is_reduced)
    assert {each.element for each in verdict.findings if each.code == "SND003"} & {"a"} == dead
