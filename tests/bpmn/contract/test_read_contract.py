"""The contract of a model: its six elements are read, kept when the model is written, and found where they stand."""

from __future__ import annotations

import pytest

from perdure.bpmn.conditions.tree import Compare
from perdure.bpmn.contract import FromState, Given, Text, read_contract
from perdure.bpmn.model import Model, Place
from perdure.bpmn.xml import read_model, write_model
from perdure.errors import RejectedError

XML = """\
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:ameide="https://ameide.io/schema/bpmn/extensions/v1" id="d" targetNamespace="t">
  <bpmn:process id="external_job" isExecutable="true">
    <bpmn:extensionElements>
      <ameide:workflowDefinition definitionId="example.job/1" workflowIdTemplate="job-${state.job_key}"/>
    </bpmn:extensionElements>
    <bpmn:startEvent id="begin"/>
    <bpmn:serviceTask id="Task_DoWork" name="Do work">
      <bpmn:extensionElements>
        <ameide:taskDefinition type="example.external_job.v1" policyRef="default"
            idempotencyKeyTemplate="example/${process_instance_id}/job/${state.job_key}"/>
        <ameide:taskHeaders><ameide:header key="tier" value="gold"/><ameide:header
            key="a" value="b"/></ameide:taskHeaders>
        <ameide:ioMapping>
          <ameide:input source="state.input_ref" target="request.input_ref"/>
          <ameide:output source="result.external_job_id" target="state.external_job_id"/>
        </ameide:ioMapping>
      </bpmn:extensionElements>
    </bpmn:serviceTask>
    <bpmn:intermediateCatchEvent id="Wait" name="Completed">
      <bpmn:messageEventDefinition messageRef="Message_Completed"/>
    </bpmn:intermediateCatchEvent>
    <bpmn:userTask id="accept-it" name="Accept">
      <bpmn:extensionElements><ameide:updateDefinition name="Decide"/></bpmn:extensionElements>
    </bpmn:userTask>
    <bpmn:exclusiveGateway id="way" default="no"/>
    <bpmn:sendTask id="tell">
      <bpmn:extensionElements><ameide:taskDefinition type="example.tell" policyRef="default"/></bpmn:extensionElements>
    </bpmn:sendTask>
    <bpmn:endEvent id="done"/>
    <bpmn:sequenceFlow id="f1" sourceRef="begin" targetRef="Task_DoWork"/>
    <bpmn:sequenceFlow id="f2" sourceRef="Task_DoWork" targetRef="Wait"/>
    <bpmn:sequenceFlow id="f3" sourceRef="Wait" targetRef="accept-it"/>
    <bpmn:sequenceFlow id="f4" sourceRef="accept-it" targetRef="way"/>
    <bpmn:sequenceFlow id="yes" sourceRef="way" targetRef="tell">
      <bpmn:conditionExpression>=state.accept_it.decision = "yes"</bpmn:conditionExpression>
    </bpmn:sequenceFlow>
    <bpmn:sequenceFlow id="no" sourceRef="way" targetRef="done"/>
    <bpmn:sequenceFlow id="f5" sourceRef="tell" targetRef="done"/>
  </bpmn:process>
  <bpmn:message id="Message_Completed" name="ExternalJobCompleted">
    <bpmn:extensionElements>
      <ameide:subscription correlationKeyTemplate="${state.external_job_id}" messageIdPath="message_id"/>
    </bpmn:extensionElements>
  </bpmn:message>
</bpmn:definitions>
"""


def model() -> Model:
    return read_model(XML, "job.bpmn")


@pytest.mark.req("B1")
def test_all_six_elements_are_read() -> None:
    contract = read_contract(model())
    assert contract.workflow.definition_id == "example.job/1"
    assert contract.workflow.workflow_type == "external_job"
    assert [str(path) for path in contract.workflow.workflow_id.paths] == ["state.job_key"]
    work = contract.work["Task_DoWork"]
    assert (work.definition.type, work.definition.policy) == ("example.external_job.v1", "default")
    assert [type(part) for part in work.definition.idempotency_key.parts] == [Text, Given, Text, FromState]
    assert list(work.headers.as_dict().items()) == [("tier", "gold"), ("a", "b")]
    assert [(str(each.source), str(each.target)) for each in work.mapping.assignments] == [
        ("state.input_ref", "request.input_ref"),
        ("result.external_job_id", "state.external_job_id"),
    ]
    wait = contract.waits["Wait"]
    assert (wait.name, wait.subscription.message_id_path) == ("ExternalJobCompleted", "message_id")
    assert wait.subscription.correlation_key.render({"external_job_id": 7}, {}) == "7"
    assert contract.gates["accept-it"].update == "Decide"
    assert contract.conditions == {"yes": Compare("state.accept_it.decision", "=", "yes")}
    assert contract.policies() == ("default",)


def test_defaults_are_filled_in_by_one_rule_each() -> None:
    contract = read_contract(read_model(XML.replace(' name="Decide"', ""), "job.bpmn"))
    assert contract.gates["accept-it"].update == "Update_accept-it"
    assert [str(each.target) for each in contract.gates["accept-it"].mapping.outputs] == [
        "state.accept_it.decision",
        "state.accept_it.reason",
    ]
    key = contract.work["tell"].definition.idempotency_key
    given = {"process_instance_id": "i", "step_id": "tell", "step_instance_id": "tell/1"}
    assert key.render({}, given) == "i/tell/tell/1"
    assert contract.state_paths() == (
        "state.accept_it.decision", "state.accept_it.reason", "state.external_job_id", "state.input_ref",
        "state.job_key",
    )  # fmt: skip


@pytest.mark.req("B1")
def test_a_model_written_and_read_again_has_the_same_contract() -> None:
    once = read_contract(model())
    again = read_contract(read_model(write_model(model()), "job.bpmn"))
    for kind in ("work", "waits", "gates"):
        for id, bound in getattr(once, kind).items():
            other = getattr(again, kind)[id]
            assert bound.mapping.assignments == () or [
                (each.direction, each.source, each.target) for each in bound.mapping.assignments
            ] == [(each.direction, each.source, each.target) for each in other.mapping.assignments]
    assert again.conditions == once.conditions
    assert again.process.extensions == once.process.extensions
    assert [each.extensions for each in again.process.body.nodes] == [
        each.extensions for each in once.process.body.nodes
    ]
    assert write_model(read_model(write_model(model()))) == write_model(model())


def test_every_element_has_its_place_in_the_file() -> None:
    read = model()
    contract = read_contract(read)
    assert contract.workflow.place == Place(5, 7)
    assert contract.work["Task_DoWork"].definition.place == Place(10, 9)
    assert contract.waits["Wait"].subscription.place == Place(43, 7)
    assert [place.line for place in read.extension_places["Task_DoWork/ameide:header"]] == [12, 12]


def test_a_process_that_is_not_there_is_refused() -> None:
    with pytest.raises(RejectedError):
        read_contract(model(), "other")
