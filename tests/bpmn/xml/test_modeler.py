"""Files as the Camunda Modeler writes them: each extension element in its place, the rest kept."""

from __future__ import annotations

import pytest

from perdure.bpmn.conditions.tree import Both, Compare
from perdure.bpmn.model import (
    CallActivity,
    Event,
    Extension,
    Flow,
    Mapping,
    Message,
    MessageTrigger,
    MultiInstance,
    Node,
    SubProcess,
    Task,
    TimerTrigger,
    Value,
    nodes,
)
from perdure.bpmn.xml import read_model, write_model
from tests.bpmn.xml.fixtures import fixture, in_process, problems_of


def node(id: str, file: str = "onboarding") -> Node:
    processes = fixture(file).definitions.processes
    return next(each for process in processes for each in nodes(process.body) if each.id == id)


def task(id: str, file: str = "onboarding") -> Task:
    found = node(id, file)
    assert isinstance(found, Task)
    return found


def flow(id: str) -> Flow:
    return next(each for each in fixture("onboarding").definitions.processes[0].body.flows if each.id == id)


def test_a_service_task_has_type_retries_headers_and_mappings() -> None:
    screen = task("screen")
    assert (screen.kind, screen.type, screen.retries, screen.headers) == (
        "service", "supplier.screen", 5, {"list": "sanctions"},
    )  # fmt: skip
    assert screen.mappings == (
        Mapping("input", Value("orch_supplier", "flag"), "orch_supplier"),
        Mapping("output", Value("=result.score", "foreign"), "orch_score"),
    )


def retried(text: str) -> str:
    zeebe = 'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'
    work = f'<zeebe:taskDefinition {zeebe} type="a.b" retries="{text}"/>'
    return in_process(f'<d:serviceTask id="a"><d:extensionElements>{work}</d:extensionElements></d:serviceTask>')


@pytest.mark.parametrize("text", ["5", "=5", " = 5 "])
def test_retries_may_be_a_number_as_feel_writes_it(text: str) -> None:
    (found,) = read_model(retried(text)).definitions.processes[0].body.nodes
    assert isinstance(found, Task)
    assert (found.type, found.retries) == ("a.b", 5)


@pytest.mark.parametrize("text", ["=orch_n", "=5.5", "=-1", "==5", ""])
def test_retries_are_nothing_but_a_number(text: str) -> None:
    (problem,) = problems_of(retried(text))
    assert problem.code == "BPM014"


def test_an_element_template_leaves_its_mark() -> None:
    marks = {"zeebe:modelerTemplate": "io.example.screen", "zeebe:modelerTemplateVersion": "3"}
    assert task("screen").extensions == (Extension("attributes", marks),)
    assert 'zeebe:modelerTemplate="io.example.screen"' in write_model(fixture("onboarding"))


def test_a_user_task_has_its_people_and_dates() -> None:
    decide = task("decide")
    assert decide.is_native
    assert decide.assignee == Value("orch_buyer", "flag")
    assert (decide.groups, decide.users) == (Value("buyers, seniors"), Value("ada"))
    assert (decide.due, decide.follow_up) == (Value("orch_due", "flag"), Value("2030-01-01T00:00:00Z"))
    assert (decide.priority, decide.form) == (Value("80"), "decide-form")


def test_what_an_element_has_beyond_the_model_is_kept_and_written_back() -> None:
    kept = Extension("zeebe:formDefinition", {"bindingType": "versionTag", "versionTag": "v1"})
    assert task("decide").extensions == (kept,)
    written = write_model(fixture("onboarding"))
    assert '<zeebe:formDefinition formId="decide-form" bindingType="versionTag" versionTag="v1" />' in written
    assert '<zeebe:calledElement processId="place-order" propagateAllChildVariables="false" />' in written


def test_a_call_says_which_flags_go_and_come() -> None:
    order = node("order")
    assert isinstance(order, CallActivity)
    assert (order.hands_all, order.returns_all, order.extensions) == (True, False, ())
    text = write_model(fixture("onboarding"))
    told = text.replace('propagateAllChildVariables="false"', 'propagateAllChildVariables="true"')
    silent = text.replace(' propagateAllChildVariables="false"', "")
    assert read_model(told).definitions == read_model(silent).definitions != read_model(text).definitions


def test_a_form_named_by_key_is_written_back_by_key() -> None:
    text = write_model(fixture("onboarding")).replace('formId="decide-form"', 'formKey="camunda-forms:bpmn:f"')
    model = read_model(text)
    decide = next(each for each in model.definitions.processes[0].body.nodes if each.id == "decide")
    assert isinstance(decide, Task)
    assert decide.form == "camunda-forms:bpmn:f"
    assert 'formKey="camunda-forms:bpmn:f"' in write_model(model)
    assert "formId" not in write_model(model)


def test_a_message_is_correlated_by_a_flag() -> None:
    correlation = Value("orch_supplier", "flag")
    messages = fixture("onboarding").definitions.messages
    assert messages == (Message(id="Message_signed", name="contract_signed", correlation=correlation),)


def test_a_wait_names_its_intake() -> None:
    signed = node("signed")
    assert isinstance(signed, Event)
    assert signed.triggers == (MessageTrigger("Message_signed"),)
    assert signed.properties == {"intake": "supplier.take-signature"}


def test_a_message_end_event_is_sent_by_a_verb() -> None:
    warned = node("warned")
    assert isinstance(warned, Event)
    assert (warned.type, warned.triggers) == ("ops.warn", (MessageTrigger(""),))


def test_a_verb_named_inside_the_event_definition_counts_as_well() -> None:
    sent = node("sent", "corners")
    assert isinstance(sent, Event)
    assert (sent.type, sent.retries, sent.headers) == ("mail.send", 2, {"k": "v"})
    assert sent.extensions == (Extension("zeebe:publishMessage", {"correlationKey": "=orch_to"}),)


def test_a_boundary_timer_that_does_not_interrupt() -> None:
    slow = node("too-slow")
    assert isinstance(slow, Event)
    assert (slow.position, slow.attached_to, slow.is_interrupting) == ("boundary", "screen", False)
    assert slow.triggers == (TimerTrigger("duration", Value("PT4H")),)


def test_a_condition_is_a_tree() -> None:
    tree = Both((Compare("orch_outcome", "=", "approved"), Compare("orch_score", ">", 3)))
    assert flow("Flow_yes").condition == tree
    assert flow("Flow_no").condition is None


def test_a_multi_instance_counts_to_a_flag() -> None:
    contracts = node("contracts")
    assert isinstance(contracts, SubProcess)
    completion = Compare("orch_stop", "=", True)
    assert contracts.repeat == MultiInstance(Value("orch_contracts", "flag"), is_sequential=True, completion=completion)
    written = 'inputCollection="=for i in 1..orch_contracts return i" inputElement="i"'
    assert written in write_model(fixture("onboarding"))


def test_a_call_activity_names_the_process() -> None:
    order = node("order")
    assert isinstance(order, CallActivity)
    assert order.process == "place-order"


def test_a_process_has_its_version_tag_properties_and_listeners() -> None:
    process = fixture("onboarding").definitions.processes[0]
    assert (process.version_tag, process.properties) == ("2.1", {"owner": "purchasing"})
    assert [each.name for each in process.extensions] == ["zeebe:executionListeners", "zeebe:userTaskForm"]
    assert process.extensions[1].text == '{"components": [{"type": "textfield"}]}'


def test_the_drawing_is_kept_with_the_planes_of_collapsed_subprocesses() -> None:
    diagram = fixture("onboarding").diagram
    assert diagram is not None
    assert {shape.element: shape.is_expanded for shape in diagram.shapes} == {
        "applied": True, "screen": True, "contracts": False,
    }  # fmt: skip
    assert diagram.edges[0].points == ((188, 120), (240, 120))
    assert [plane.plane for plane in diagram.inner] == ["contracts"]


def test_colours_and_markers_of_the_drawing_are_kept() -> None:
    colour = 'xmlns:o="http://www.omg.org/spec/BPMN/non-normative/color/1.0" o:background-color="#ffe0b2"'
    older = 'xmlns:b="http://bpmn.io/schema/bpmn/biocolor/1.0" b:stroke="#e65100"'
    drawn = (
        '<i:BPMNDiagram xmlns:i="http://www.omg.org/spec/BPMN/20100524/DI" '
        'xmlns:c="http://www.omg.org/spec/DD/20100524/DC"><i:BPMNPlane bpmnElement="p">'
        f'<i:BPMNShape bpmnElement="g" isMarkerVisible="true" {colour} {older}>'
        f'<c:Bounds x="1" y="2" width="3" height="4"/></i:BPMNShape><i:BPMNEdge bpmnElement="f" {older}/>'
        "</i:BPMNPlane></i:BPMNDiagram>"
    )
    text = in_process(
        '<d:exclusiveGateway id="g"/><d:task id="t"/><d:sequenceFlow id="f" sourceRef="g" targetRef="t"/>', drawn
    )
    diagram = read_model(text).diagram
    assert diagram is not None
    (shape,), (edge,) = diagram.shapes, diagram.edges
    assert shape.look == {
        "isMarkerVisible": "true", "color:background-color": "#ffe0b2", "bioc:stroke": "#e65100",
    }  # fmt: skip
    assert edge.look == {"bioc:stroke": "#e65100"}
    assert read_model(write_model(read_model(text))).diagram == diagram


def test_places_say_where_each_element_stands() -> None:
    place = fixture("onboarding").places["screen"]
    assert (place.line, place.column) == (19, 5)
    assert "Flow_1" in fixture("onboarding").places


def test_what_is_written_opens_in_the_modeler() -> None:
    text = write_model(fixture("settlement"))
    assert 'modeler:executionPlatform="Camunda Cloud"' in text
    assert 'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"' in text
    assert '<bpmndi:BPMNShape id="pay_di" bpmnElement="pay">' in text
    assert "<bpmn:incoming>f1</bpmn:incoming>" in text
    assert '<zeebe:taskDefinition type="bank.pay" />' in text
