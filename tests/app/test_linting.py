"""Lint before deployment: what concerns the process that is deployed, and nothing else of its file."""

from __future__ import annotations

import pytest

from perdure.app.linting import lint_check
from perdure.bpmn.machine.definition import Deployed
from perdure.bpmn.xml import read_model
from perdure.verbs import Catalogue
from tests.bpmn.xml.fixtures import in_process


@pytest.mark.req("V10")
@pytest.mark.parametrize("is_broken", [False, True])
def test_what_is_wrong_with_another_process_of_the_file_does_not_concern_this_one(is_broken: bool) -> None:
    condition = "=amount &gt; 3" if is_broken else "=orch_x = 1"
    other = f"""
      <d:process id="other" isExecutable="true">
        <d:startEvent id="begin"/><d:exclusiveGateway id="way" default="no"/>
        <d:endEvent id="one"/><d:endEvent id="two"/>
        <d:sequenceFlow id="in" sourceRef="begin" targetRef="way"/>
        <d:sequenceFlow id="yes" sourceRef="way" targetRef="one">
          <d:conditionExpression>{condition}</d:conditionExpression></d:sequenceFlow>
        <d:sequenceFlow id="no" sourceRef="way" targetRef="two"/>
      </d:process>"""
    good = '<d:startEvent id="s"/><d:endEvent id="e"/><d:sequenceFlow id="f" sourceRef="s" targetRef="e"/>'
    model = read_model(in_process(good, other))
    found = {}
    for process in model.definitions.processes:
        check = lint_check(Catalogue(()))
        found[process.id] = {each.code for each in check(model, Deployed(process=process), None)}
    assert ("HOL002" in found.pop("other")) == is_broken
    (codes,) = found.values()
    assert "HOL002" not in codes
