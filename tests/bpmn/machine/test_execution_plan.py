"""What a plan makes of a drawing."""

from __future__ import annotations

import pytest

from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.execution_plan import plan_of
from perdure.bpmn.xml import read_model
from tests.bpmn.xml.fixtures import in_process

TASKS = (
    '<d:serviceTask id="book"/><d:serviceTask id="free" isForCompensation="true"/>'
    '<d:boundaryEvent id="undo" attachedToRef="book"><d:compensateEventDefinition/></d:boundaryEvent>'
    '<d:textAnnotation id="note"><d:text>Costs a fee.</d:text></d:textAnnotation>'
)
FORTH = '<d:association id="a" sourceRef="undo" targetRef="free"/>'
BACK = '<d:association id="a" sourceRef="free" targetRef="undo"/>'
NOTED = '<d:association id="b" sourceRef="undo" targetRef="note"/>'


@pytest.mark.req("O8")
@pytest.mark.parametrize(
    "text",
    [
        TASKS + FORTH,
        TASKS + BACK,
        TASKS + FORTH + NOTED,
        TASKS + NOTED + BACK,
        f'<d:subProcess id="sub">{TASKS}</d:subProcess>{FORTH}',
        f'<d:subProcess id="sub">{TASKS}</d:subProcess>{BACK}{NOTED}',
    ],
)
def test_what_undoes_an_activity_is_found_whichever_way_it_is_joined(text: str) -> None:
    (process,) = read_model(in_process(text)).definitions.processes
    plan = plan_of(Deployed(process=process), b"hash")
    assert plan.spots["book"].handler == "free"
    assert plan.can_undo
