"""Every counterexample can be seen: as a scenario that reproduces, and drawn on the diagram."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from perdure.bpmn import model as m
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.proof import Bounds, Finding, prove
from perdure.bpmn.proof.counterexample_scenario import scenario_of
from perdure.bpmn.proof.finding_diagram import path_of, picture_of
from perdure.bpmn.proof.proof_subject import deployed_of
from perdure.bpmn.proof.verdict import Step
from perdure.bpmn.xml import write_model
from perdure.testing.scenarios import Outcome, load_scenario, run_scenario
from tests.bpmn.proof.cases import CASES, Case
from tests.bpmn.proof.models import boundary, definitions, node, timer
from tests.bpmn.proof.random_models import random_process, random_writes

WRONG = {name: case for name, case in CASES.items() if case.code not in ("SND003", "SND008")}


@pytest.fixture(autouse=True)
def without_lint(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes changed by chance are wrong in other ways as well; here they are to run all the same."""
    monkeypatch.setattr("perdure.testing.scenarios.embedded_world.refusal_of", lambda *about: None)
    monkeypatch.setattr("perdure.testing.scenarios.embedded_world.EmbeddedWorld._checks", lambda world: ())


async def played(model: m.Definitions, deployed: Deployed, finding: Finding, folder: Path) -> tuple[Outcome, str]:
    """The scenario of a finding, run from its file."""
    (folder / "wrong.bpmn").write_text(write_model(m.Model(definitions=model)), encoding="utf-8")
    text = scenario_of(deployed, finding, "wrong.bpmn")
    (folder / "shown.yaml").write_text(text, encoding="utf-8")
    return await run_scenario(load_scenario(folder / "shown.yaml")), text


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
async def test_a_counterexample_is_a_scenario_that_reproduces_on_the_engine(case: Case, tmp_path: Path) -> None:
    deployed = deployed_of(case.wrong, case.wrong.processes[0], {})
    for finding in (each for each in case.prove(case.wrong).findings if each.code != "SND011"):
        outcome, text = await played(case.wrong, deployed, finding, tmp_path)
        assert outcome.passed, [*outcome.failures, text]
        is_failed = "the instance fails" in finding.fact
        assert outcome.actual.state == ("failed" if is_failed else "active"), "nothing else here ever ends"
        if not is_failed and finding.code in ("SND004", "SND005", "SND007", "SND009"):
            assert outcome.actual.incidents


async def test_the_scenario_holds_jobs_back_where_the_order_matters(tmp_path: Path) -> None:
    nodes = (node("a"), boundary("late", "a", timer("PT5M")))
    late = ("late -> xor1", "xor1 -> b [orch_x = true]", "b -> xor2")
    model = definitions(
        "start -> and1", "and1 -> a -> xor2 -> and2", *late, "and1 -> user1 -> and2 -> end", nodes=nodes
    )
    deployed = deployed_of(model, model.processes[0], {})
    finding = prove(model).errors()[0]
    outcome, text = await played(model, deployed, finding, tmp_path)
    assert finding.code == "SND004"
    assert outcome.passed, [*outcome.failures, text]
    assert "advance: PT300S" in text


async def test_the_scenario_takes_an_order_that_the_durations_allow(tmp_path: Path) -> None:
    model = definitions(
        "start -> and1", "and1 -> user1 -> xor1 -> and2", "late -> user3 -> xor1", "and1 -> timer1 -> a -> xor2",
        "xor2 -> and2 [orch_x = true]", "xor2 -> end2 [default]", "and2 -> end",
        nodes=(node("user1"), boundary("late", "user1", timer("PT5S"))),
    )  # fmt: skip
    deployed = deployed_of(model, model.processes[0], {})
    steps = (
        Step(kind="start", element="start"), Step(kind="timer", element="timer1"),
        Step(kind="job", element="a", name="verb.a", flags={"orch_x": False}), Step(kind="task", element="user1"),
    )  # fmt: skip
    finding = replace(prove(model).errors()[0], steps=steps)
    outcome, text = await played(model, deployed, finding, tmp_path)
    assert outcome.passed, [*outcome.failures, text]
    assert "untimed" not in text
    assert text.index("completes 'user1'") < text.index("timer 'timer1' fires"), "the comment tells the same order"


async def test_the_scenario_says_so_when_no_order_fits_the_durations(tmp_path: Path) -> None:
    soon = m.Event(id="soon", position="catch", triggers=(timer("PT5S"),))
    model = definitions(
        "start -> race1 -> timer1 -> xor1", "xor1 -> b [orch_x = true]", "b -> end", "race1 -> soon -> end",
        nodes=(soon,),
    )  # fmt: skip
    finding = prove(model).errors()[0]
    _, text = await played(model, deployed_of(model, model.processes[0], {}), finding, tmp_path)
    assert "untimed" in text


@pytest.mark.parametrize("block", range(6))
async def test_counterexamples_of_random_processes_reproduce(block: int, tmp_path: Path) -> None:
    seen = 0
    for seed in range(block * 20, block * 20 + 20):
        deployed = random_process(seed, 6, changes=1 + seed % 2)
        writes: Mapping[str, tuple[str, ...]] = random_writes(deployed, seed)
        model = m.Definitions(
            id="file", processes=(deployed.process,), messages=deployed.messages, signals=deployed.signals,
            errors=deployed.errors,
        )  # fmt: skip
        for finding in prove(deployed, writes=writes).errors():
            if finding.steps and finding.code != "SND005":
                outcome, text = await played(model, deployed, finding, tmp_path)
                if "Timers are untimed" not in text:
                    assert outcome.passed, [seed, *outcome.failures, text]
                    seen += 1
    assert seen


def test_a_counterexample_is_drawn_on_the_diagram() -> None:
    case = CASES["a parallel join after a choice"]
    deployed = deployed_of(case.wrong, case.wrong.processes[0], {})
    finding = case.prove(case.wrong).findings[0]
    path = path_of(deployed, finding)
    assert {"start", "a", "xor1", "and1"} <= set(path)
    assert len({"b", "c"} & set(path)) == 1, "the other branch was not taken"
    picture = picture_of(m.Model(definitions=case.wrong), deployed, finding)
    assert picture.startswith("<svg") and "SND001" in picture


def test_a_counterexample_is_as_short_as_it_can_be() -> None:
    lines = ("start -> and1", "and1 -> z1 -> z2 -> z3 -> and2", "and1 -> a -> xor1", "xor1 -> b [orch_x = true]",
             "b -> and2 -> end")  # fmt: skip
    finding = prove(definitions(*lines)).errors()[0]
    assert [step.element for step in finding.steps] == ["start", "a"]
    assert finding.steps[1].flags == {"orch_x": False}


def test_the_way_with_fewer_steps_is_told_though_it_has_more_choices() -> None:
    lines = ("start -> race1 -> message1 -> a -> b -> c -> d -> xor1", "race1 -> timer1 -> race2 -> message2 -> xor1",
             "race2 -> timer2 -> e -> and1", "xor1 -> and1 -> end")  # fmt: skip
    finding = prove(definitions(*lines)).errors()[0]
    assert [step.element for step in finding.steps] == ["start", "timer1", "message2"]


@pytest.mark.parametrize("block", range(3))
def test_no_counterexample_is_longer_than_the_shortest_of_a_search_without_reductions(block: int) -> None:
    seen = 0
    for seed in range(block * 20, block * 20 + 20):
        deployed = random_process(seed, 5, changes=1)
        writes = random_writes(deployed, seed)
        whole = prove(deployed, writes=writes, is_reduced=False, bounds=Bounds(states=1_500))
        shortest = {(each.code, each.element): len(each.steps) for each in whole.errors() if each.code != "SND006"}
        for finding in prove(deployed, writes=writes).errors():
            if not whole.bound and (finding.code, finding.element) in shortest:
                assert len(finding.steps) <= shortest[finding.code, finding.element], seed
                seen += 1
    assert seen
