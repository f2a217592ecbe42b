"""Two tokens are found where nothing waits, and only where one was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.bpmn import model as m
from perdure.bpmn.proof import prove
from perdure.bpmn.proof.counterexample_scenario import scenario_of
from perdure.bpmn.proof.proof_subject import deployed_of
from perdure.bpmn.xml import write_model
from perdure.testing.scenarios import load_scenario, run_scenario
from tests.bpmn.proof.models import boundary, definitions, node, scope, timer

SPLIT = ("start -> and1", "and1 -> a -> xor1", "and1 -> b -> xor1")
THROW = m.Event(id="thrown", position="throw", triggers=(m.SignalTrigger("s"),))
ESCALATED = m.Event(id="end", position="end", triggers=(m.EscalationTrigger("e"),))
INNER = m.SubProcess(id="sub", body=scope("start2 -> and1", "and1 -> a -> xor1", "and1 -> b -> xor1 -> end2"))

WRONG = {
    "before an end": (definitions(*SPLIT, "xor1 -> end"), "xor1"),
    "before a throw": (
        definitions(*SPLIT, "xor1 -> thrown -> end", nodes=(THROW,), signals=(m.Signal(id="s", name="s"),)), "xor1"),
    "before a task without work": (definitions(*SPLIT, "xor1 -> none1 -> end"), "xor1"),
    "before a choice": (definitions(*SPLIT, "xor1 -> xor2", "xor2 -> end [orch_x = true]", "xor2 -> end2 [default]"),
                        "xor1"),
    "in a subprocess": (definitions("start -> sub -> end", nodes=(INNER,)), "xor1"),
    "at a task without work": (definitions("start -> and1", "and1 -> a -> none1", "and1 -> b -> none1 -> end"),
                               "none1"),
    "at an end that does something": (
        definitions("start -> and1", "and1 -> a -> end", "and1 -> b -> end", nodes=(node("start"), ESCALATED),
                    escalations=(m.Escalation(id="e", code="E"),)), "end"),
    "after an inclusive split": (
        definitions("start -> a -> or1", "or1 -> b [orch_x = true]", "or1 -> c [orch_y = true]", "or1 -> d [default]",
                    "b -> xor1", "c -> xor1", "d -> xor1 -> end"), "xor1"),
    "without anything between": (definitions("start -> a -> and1", "and1 -> xor1", "and1 -> xor1 -> end"), "xor1"),
    "three branches, two of them joined": (
        definitions("start -> and1", "and1 -> a -> and2", "and1 -> b -> and2 -> xor1", "and1 -> c -> xor1 -> end"),
        "xor1"),
}  # fmt: skip

AD_HOC = m.SubProcess(
    id="sub", kind="ad_hoc",
    body=scope("a -> xor1", "b -> xor1 -> thrown", nodes=(node("a"), node("b"), THROW)),
)  # fmt: skip

RIGHT = {
    "activities side by side in no order": definitions(
        "start -> sub -> end", nodes=(AD_HOC,), signals=(m.Signal(id="s", name="s"),)),
    "branches that end apart": definitions("start -> and1", "and1 -> a -> end", "and1 -> b -> end"),
    "the first one ends it all": definitions(
        *SPLIT, "xor1 -> end", nodes=(m.Event(id="end", position="end", triggers=(m.TerminateTrigger(),)),)),
    "a choice in a branch": definitions(
        "start -> and1", "and1 -> a -> xor1", "xor1 -> none1 [orch_x = true]", "xor1 -> none2 [default]",
        "none1 -> xor2", "none2 -> xor2 -> and2", "and1 -> b -> and2 -> end"),
    "a loop around branches": definitions(
        "start -> xor1 -> and1", "and1 -> a -> and2", "and1 -> none1 -> and2 -> xor2", "xor2 -> xor1 [orch_x = true]",
        "xor2 -> end [default]"),
    "a loop back to where a branch began": definitions(
        "start -> and1", "and1 -> xor1 -> and2", "and1 -> xor3 -> a -> and2 -> xor2", "xor2 -> and3 [orch_x = true]",
        "and3 -> xor1", "and3 -> xor3", "xor2 -> end [default]"),
    "a loop in a branch": definitions(
        "start -> and1", "and1 -> xor1 -> a -> xor2", "xor2 -> xor1 [orch_x = true]", "xor2 -> and2 [default]",
        "and1 -> b -> and2 -> end"),
    "an inclusive split with only one way at a time": definitions(
        "start -> a -> or1", "or1 -> b [orch_x = true]", "or1 -> c [orch_x = false]", "b -> xor1", "c -> xor1 -> end"),
    "a reminder that ends with the main way": definitions(
        "start -> user1 -> xor1 -> end", "late -> b -> xor1",
        nodes=(node("start"), node("user1"), boundary("late", "user1", timer(), False))),
    "a subprocess many times": definitions(
        "start -> sub -> end",
        nodes=(m.SubProcess(id="sub", body=scope("start2 -> a -> xor1", "xor1 -> none1 [orch_x = true]",
               "xor1 -> none2 [default]", "none1 -> xor2", "none2 -> xor2 -> end2"),
               repeat=m.MultiInstance(cardinality=m.Value("3"))),)),
}  # fmt: skip


@pytest.mark.parametrize(("model", "place"), WRONG.values(), ids=WRONG.keys())
def test_branches_that_meet_without_a_join_are_found_where_they_meet(model: m.Definitions, place: str) -> None:
    for is_reduced in (True, False):
        verdict = prove(model, is_reduced=is_reduced)
        assert [(each.code, each.element) for each in verdict.findings] == [("SND002", place)]


@pytest.mark.parametrize(("model", "place"), WRONG.values(), ids=WRONG.keys())
async def test_the_second_token_is_seen_on_the_engine(model: m.Definitions, place: str, tmp_path: Path) -> None:
    finding = prove(model).errors()[0]
    (tmp_path / "wrong.bpmn").write_text(write_model(m.Model(definitions=model)), encoding="utf-8")
    text = scenario_of(deployed_of(model, model.processes[0], {}), finding, "wrong.bpmn")
    (tmp_path / "shown.yaml").write_text(text, encoding="utf-8")
    outcome = await run_scenario(load_scenario(tmp_path / "shown.yaml"))
    assert outcome.passed, [*outcome.failures, text]
    assert outcome.actual.visited.count(place) == 2


@pytest.mark.parametrize("model", RIGHT.values(), ids=RIGHT.keys())
def test_what_comes_again_later_or_is_meant_twice_is_no_fault(model: m.Definitions) -> None:
    verdict = prove(model)
    assert verdict.word == "proved", [finding.message() for finding in verdict.findings]
