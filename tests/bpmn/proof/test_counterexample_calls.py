"""Counterexamples through call activities: the called process does what it must, or nothing is expected."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace

from perdure.bpmn import model as m
from perdure.bpmn.proof import prove
from perdure.bpmn.proof.counterexample_scenario import scenario_of
from perdure.bpmn.proof.proof_subject import deployed_of
from perdure.bpmn.xml import write_model
from perdure.testing.scenarios import Outcome, load_scenario, run_scenario
from tests.bpmn.proof.models import boundary, definitions, node, scope

CALL = m.CallActivity(id="called", process="child")
BRANCHES = ("start -> and1", "and1 -> called -> and2", "and1 -> a -> and2 -> end", "caught -> end2")
CHOICE = (
    "start -> called -> xor1",
    "xor1 -> a [orch_x = true]",
    "xor1 -> b [default]",
    "a -> and1",
    "b -> and1 -> end",
)
FAILED = m.Event(id="failed", position="end", triggers=(m.ErrorTrigger("REFUSED"),))
RAISED = m.Event(id="raised", position="throw", triggers=(m.EscalationTrigger("e"),))
ERROR = boundary("caught", "called", m.ErrorTrigger("REFUSED"))
ESCALATION = boundary("caught", "called", m.EscalationTrigger("e"))


def file(lines: tuple[str, ...], caught: tuple[m.Event, ...], *inside: str, nodes: tuple[m.Node, ...] = ()) -> m.Model:
    """A process that calls another one of the same file."""
    caller = definitions(*lines, nodes=(node("start"), CALL, *caught), escalations=(m.Escalation(id="e", code="E"),))
    child = m.Process(id="child", body=scope(*inside, nodes=nodes))
    return m.Model(definitions=replace(caller, processes=(*caller.processes, child)))


SHOWN = {
    "it fails": file(BRANCHES, (ERROR,), "start3 -> c -> xor3", "xor3 -> failed [orch_y = true]",
                     "xor3 -> end3 [default]", nodes=(FAILED,)),
    "it escalates": file(BRANCHES, (ESCALATION,), "start3 -> c -> raised -> end3", nodes=(RAISED,)),
    "it ends with a value": file(CHOICE, (), "start3 -> user3 -> end3"),
    "it is still under way": file(
        ("start -> and1", "and1 -> called -> and2", "and1 -> a -> xor1", "xor1 -> and2 [orch_x = true]", "and2 -> end"),
        (), "start3 -> c -> end3"),
}  # fmt: skip


async def played(model: m.Model, folder: Path) -> tuple[Outcome, str]:
    definitions = model.definitions
    finding = prove(definitions, "p").errors()[0]
    (folder / "wrong.bpmn").write_text(write_model(model), encoding="utf-8")
    called = {each.id: each for each in definitions.processes}
    text = scenario_of(deployed_of(definitions, definitions.processes[0], {}), finding, "wrong.bpmn", (), called)
    (folder / "shown.yaml").write_text(text, encoding="utf-8")
    return await run_scenario(load_scenario(folder / "shown.yaml")), text


@pytest.mark.parametrize("model", SHOWN.values(), ids=SHOWN.keys())
async def test_the_called_process_does_what_the_counterexample_needs(model: m.Model, tmp_path: Path) -> None:
    outcome, text = await played(model, tmp_path)
    assert outcome.passed, [*outcome.failures, text]
    assert yaml.safe_load(text)["expect"]["state"] == "active"


@pytest.mark.parametrize("is_elsewhere", [False, True])
async def test_nothing_is_expected_of_what_the_called_process_cannot_be_seen_to_do(
    is_elsewhere: bool, tmp_path: Path
) -> None:
    model = file(BRANCHES, (ERROR,), "start3 -> c -> end3")
    if is_elsewhere:
        model = m.Model(definitions=replace(model.definitions, processes=model.definitions.processes[:1]))
    _, text = await played(model, tmp_path)
    assert "expect" not in yaml.safe_load(text)
    assert "nothing is expected" in text
