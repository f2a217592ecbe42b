"""What is wrong with a model: every problem at once, each with its place, its element and what to do."""

from __future__ import annotations

import pytest

from perdure.bpmn.model import Definitions, Extension, Model, Process, Scope, Signal, Task
from perdure.bpmn.xml import read_limits, read_model, write_model
from perdure.errors import ModelError
from tests.bpmn.xml.fixtures import CLOSING, OPENING, codes_of, in_process, problems_of

TASKS = '<d:task id="a" /><d:task id="b" />'
ZEEBE = 'xmlns:z="http://camunda.org/schema/zeebe/1.0"'


@pytest.mark.parametrize(
    ("content", "code", "element", "fact"),
    [
        ("<d:task />", "BPM006", "", "a task has no id"),
        ('<d:task id="a" /><d:userTask id="a" />', "BPM007", "a", "also that of the element in line 1"),
        ('<d:task id="p" />', "BPM007", "p", "also that of"),
        ('<d:task id="a" /><d:task id="x:a" />', "BPM007", "x:a", "reads as a prefix and the id of the element"),
        (
            '<d:task id="a" /><d:endEvent id="e"><d:terminateEventDefinition id="a" /></d:endEvent>',
            "BPM007", "a", "also that of",
        ),
        (f'{TASKS}<d:sequenceFlow id="f" sourceRef="a" targetRef="z" />', "BPM008", "f", "targetRef refers to 'z'"),
        (f'{TASKS}<d:sequenceFlow id="f" sourceRef="z" targetRef="a" />', "BPM008", "f", "sourceRef refers to 'z'"),
        ('<d:task id="a" default="z" />', "BPM008", "a", "default refers to 'z'"),
        ('<d:boundaryEvent id="e" attachedToRef="z" />', "BPM008", "e", "attachedToRef refers to 'z'"),
        ('<d:receiveTask id="a" messageRef="z" />', "BPM008", "a", "messageRef refers to 'z'"),
        *(
            (f'<d:endEvent id="e"><d:{kind}EventDefinition {attribute}="z" /></d:endEvent>', "BPM008", "e", attribute)
            for kind, attribute in (
                ("message", "messageRef"), ("signal", "signalRef"), ("error", "errorRef"),
                ("escalation", "escalationRef"), ("compensate", "activityRef"),
            )
        ),
        ('<d:endEvent id="e"><d:eventDefinitionRef>z</d:eventDefinitionRef></d:endEvent>', "BPM008", "e", "'z'"),
        ('<d:laneSet><d:lane id="l"><d:flowNodeRef>z</d:flowNodeRef></d:lane></d:laneSet>', "BPM008", "l", "'z'"),
        ('<d:association id="x" sourceRef="p" targetRef="z" />', "BPM008", "x", "targetRef refers to 'z'"),
        ('<d:dataObjectReference id="r" dataObjectRef="z" />', "BPM008", "r", "dataObjectRef refers to 'z'"),
        ('<d:dataObjectReference id="r" dataObjectRef="r" />', "BPM009", "r", "which is a data object reference"),
        ('<d:boundaryEvent id="e" attachedToRef="e" />', "BPM009", "e", "which is an event"),
        ('<d:receiveTask id="a" messageRef="a" />', "BPM009", "a", "which is an activity"),
        (f'{TASKS}<d:sequenceFlow id="f" sourceRef="a" targetRef="f" />', "BPM009", "f", "which is a sequence flow"),
        ('<d:laneSet><d:lane id="l"><d:flowNodeRef>l</d:flowNodeRef></d:lane></d:laneSet>', "BPM009", "l", "a lane"),
        (
            '<d:task id="a" /><d:subProcess id="s"><d:task id="b" /></d:subProcess>'
            '<d:sequenceFlow id="f" sourceRef="a" targetRef="b" />',
            "BPM010", "f", "'b' stands in another scope",
        ),
        (
            '<d:subProcess id="s"><d:boundaryEvent id="e" attachedToRef="s" /></d:subProcess>',
            "BPM010", "e", "stands in another scope",
        ),
        ('<d:serviceTask id="a"><d:script>x</d:script></d:serviceTask>', "BPM012", "", "a script does not belong"),
        *(
            (
                f'<d:task id="a"><d:extensionElements><d:{kind} /></d:extensionElements></d:task>',
                "BPM012", "", f"{kind} does not belong where it stands",
            )
            for kind in ("timerEventDefinition", "multiInstanceLoopCharacteristics", "inputSet", "script")
        ),
        (
            '<d:task id="a"><d:ioSpecification><d:dataInput id="i" /></d:ioSpecification></d:task>'
            '<d:sequenceFlow id="f" sourceRef="a" targetRef="i" />',
            "BPM009", "f", "'i', which is a data input",
        ),
        (f'{TASKS}<d:sequenceFlow id="a" sourceRef="a" targetRef="b" />', "BPM007", "a", "also that of"),
        (
            '<d:task id="a" /><d:EndEvent id="e" /><d:sequenceFlow id="f" sourceRef="a" targetRef="e" />',
            "BPM012", "e", "BPMN 2.0 has no element 'EndEvent'",
        ),
        ('<d:task id="a" /><d:sequenceFlow id="f" sourceRef="a" />', "BPM011", "f", "has no targetRef"),
        ('<d:boundaryEvent id="e" />', "BPM011", "e", "has no attachedToRef"),
        ('<d:serviceTsk id="a" />', "BPM012", "a", "BPMN 2.0 has no element 'serviceTsk'"),
        ('<d:task id="a"><d:lane id="b" /></d:task>', "BPM012", "b", "a lane does not belong where it stands"),
        ('<d:task id="a"><d:association id="b" /></d:task>', "BPM012", "b", "an association does not belong"),
        ('<d:task id="a"><d:task id="b" /></d:task>', "BPM012", "b", "does not belong where it stands"),
        (
            '<d:task id="a"><d:multiInstanceLoopCharacteristics><d:loopCardinality>2</d:loopCardinality>'
            "<d:completionCondtion>=orch_x = 1</d:completionCondtion></d:multiInstanceLoopCharacteristics></d:task>",
            "BPM012", "", "BPMN 2.0 has no element 'completionCondtion'",
        ),
        (
            '<d:startEvent id="e"><d:timerEventDefinition><d:timeDuraton>PT1H</d:timeDuraton></d:timerEventDefinition>'
            "</d:startEvent>",
            "BPM012", "", "BPMN 2.0 has no element 'timeDuraton'",
        ),
        (
            '<d:laneSet id="x"><d:lane id="l"><d:flowNoderef>a</d:flowNoderef></d:lane></d:laneSet><d:task id="a" />',
            "BPM012", "", "BPMN 2.0 has no element 'flowNoderef'",
        ),
        ('<d:textAnnotation id="t"><d:task id="a" /></d:textAnnotation>', "BPM012", "a", "a task does not belong"),
        ('<d:choreographyTask id="a" />', "BPM013", "a", "a choreographyTask has no place"),
        ('<d:task id="a" isForCompensation="maybe" />', "BPM014", "a", "isForCompensation is 'maybe'"),
        ('<d:adHocSubProcess id="a" ordering="Random" />', "BPM014", "a", "ordering is 'Random'"),
        ('<d:transaction id="a" triggeredByEvent="true" />', "BPM014", "a", "no event begins a transaction"),
        ('<d:adHocSubProcess id="a" triggeredByEvent="true" />', "BPM014", "a", "no event begins an adHocSubProcess"),
        (
            '<d:task id="a"><d:standardLoopCharacteristics loopMaximum="many" /></d:task>',
            "BPM014", "", "loopMaximum is 'many'",
        ),
        (
            '<d:startEvent id="e"><d:timerEventDefinition><d:timeDate>x</d:timeDate><d:timeCycle>y</d:timeCycle>'
            "</d:timerEventDefinition></d:startEvent>",
            "BPM015", "", "more than one time",
        ),
        (
            '<d:task id="a"><d:standardLoopCharacteristics /><d:multiInstanceLoopCharacteristics /></d:task>',
            "BPM015", "a", "it repeats in two ways",
        ),
        (
            f'<d:task id="a"><d:extensionElements {ZEEBE}><z:taskDefinition type="x" /><z:taskDefinition type="y" />'
            "</d:extensionElements></d:task>",
            "BPM015", "a", "two zeebe:taskDefinition",
        ),
        (
            f'<d:task id="a"><d:extensionElements {ZEEBE}><z:taskHeaders><z:header key="k" value="1" />'
            '<z:header key="k" value="2" /></z:taskHeaders></d:extensionElements></d:task>',
            "BPM015", "", "the key 'k' is given twice",
        ),
        (
            f'{TASKS}<d:sequenceFlow id="f" sourceRef="a" targetRef="b"><d:conditionExpression>=orch_x'
            "</d:conditionExpression><d:conditionExpression>=orch_y</d:conditionExpression></d:sequenceFlow>",
            "BPM015", "", "the conditionExpression of the sequenceFlow is given twice",
        ),
        (
            '<d:startEvent id="e"><d:conditionalEventDefinition><d:condition>=orch_x</d:condition><d:condition>=orch_y'
            "</d:condition></d:conditionalEventDefinition></d:startEvent>",
            "BPM015", "", "the condition of the conditionalEventDefinition is given twice",
        ),
        (
            '<d:scriptTask id="a"><d:script>x</d:script><d:script>y</d:script></d:scriptTask>',
            "BPM015", "", "the script of the scriptTask is given twice",
        ),
        (
            '<d:task id="a"><d:multiInstanceLoopCharacteristics><d:loopCardinality>1</d:loopCardinality>'
            "<d:loopCardinality>2</d:loopCardinality></d:multiInstanceLoopCharacteristics></d:task>",
            "BPM015", "", "the loopCardinality of the multiInstanceLoopCharacteristics is given twice",
        ),
        (
            f'<d:task id="a"><d:multiInstanceLoopCharacteristics><d:extensionElements {ZEEBE}>'
            '<z:loopCharacteristics inputCollection="=for i in 1..2 return i" />'
            '<z:loopCharacteristics inputCollection="=for i in 1..5 return i" />'
            "</d:extensionElements></d:multiInstanceLoopCharacteristics></d:task>",
            "BPM015", "", "two zeebe:loopCharacteristics",
        ),
        (
            f'<d:task id="a"><d:multiInstanceLoopCharacteristics><d:extensionElements {ZEEBE}>'
            '<z:loopCharacteristics inputCollection="=for i in 1..2 return i" /></d:extensionElements>'
            "<d:loopCardinality>3</d:loopCardinality></d:multiInstanceLoopCharacteristics></d:task>",
            "BPM015", "", "it says how often in two ways",
        ),
        (
            '<d:task id="a"><d:multiInstanceLoopCharacteristics><d:loopCardinality>3</d:loopCardinality>'
            "<d:loopDataInputRef>b</d:loopDataInputRef></d:multiInstanceLoopCharacteristics></d:task>",
            "BPM015", "", "as a loopCardinality and as a loopDataInputRef",
        ),
        *(
            (f'<d:intermediateThrowEvent id="a">{link.format(end)}</d:intermediateThrowEvent>{other}', code, "l", fact)
            for link, other in (
                (
                    '<d:linkEventDefinition id="l" name="L"><d:target>{}</d:target></d:linkEventDefinition>',
                    '<d:intermediateCatchEvent id="b"><d:linkEventDefinition id="m" name="M" />'
                    '</d:intermediateCatchEvent><d:task id="t" />',
                ),
            )
            for end, code, fact in (
                ("z", "BPM008", "the target of the link is 'z', which is not in the file"),
                ("t", "BPM009", "the target of the link is 't', which is no link"),
                ("m", "BPM015", "the link is named 'L' and its target 'M'"),
                ("b", "BPM015", "the link is named 'L' and its target 'M'"),
            )
        ),
        (
            f'<d:callActivity id="a" calledElement="p"><d:extensionElements {ZEEBE}><z:calledElement processId="q" />'
            "</d:extensionElements></d:callActivity>",
            "BPM015", "a", "it calls 'p' by its attribute and 'q' by zeebe:calledElement",
        ),
        (
            f'{TASKS}<d:exclusiveGateway id="g" default="f" /><d:sequenceFlow id="f" sourceRef="a" targetRef="g" />',
            "BPM016", "g", "its default flow 'f' leaves 'a'",
        ),
        ('<d:task id="a"><d:incoming>z</d:incoming></d:task>', "BPM008", "a", "incoming refers to 'z'"),
        ('<d:task id="a"><d:outgoing>p</d:outgoing></d:task>', "BPM009", "a", "'p', which is no sequence flow"),
        (
            '<d:task id="a"><d:incoming>f</d:incoming></d:task><d:task id="b" />'
            '<d:sequenceFlow id="f" sourceRef="a" targetRef="b" />',
            "BPM016", "a", "its incoming flow 'f' reaches 'b'",
        ),
        (
            '<d:task id="a" /><d:task id="b"><d:outgoing>f</d:outgoing></d:task>'
            '<d:sequenceFlow id="f" sourceRef="a" targetRef="b" />',
            "BPM016", "b", "its outgoing flow 'f' leaves 'a'",
        ),
    ],
)  # fmt: skip
def test_a_fault_of_structure_is_told_with_its_element(content: str, code: str, element: str, fact: str) -> None:
    (problem,) = problems_of(in_process(content))
    assert (problem.code, problem.field) == (code, element)
    assert fact in problem.reason
    assert problem.hint


@pytest.mark.parametrize(
    ("roots", "code", "element"),
    [
        ('<d:choreography id="c" />', "BPM013", "c"),
        ('<d:proces id="q" />', "BPM012", "q"),
        ('<d:task id="t" />', "BPM012", "t"),
        ('<d:collaboration id="c" /><d:collaboration id="k" />', "BPM013", "k"),
        ('<d:collaboration id="c"><d:participant id="w" processRef="z" /></d:collaboration>', "BPM008", "w"),
        (
            '<d:collaboration id="c"><d:messageFlow id="w" sourceRef="z" targetRef="p" /></d:collaboration>',
            "BPM008", "w",
        ),
        ('<d:message name="m" />', "BPM006", ""),
    ],
)  # fmt: skip
def test_a_fault_at_the_root_is_told_with_its_element(roots: str, code: str, element: str) -> None:
    problems = problems_of(in_process("", roots))
    assert (problems[0].code, problems[0].field) == (code, element)


def test_all_problems_of_a_file_are_told_at_once_in_their_order() -> None:
    text = in_process(
        '\n<d:task />\n<d:task id="a" />\n  <d:task id="a" />\n<d:sequenceFlow id="f" sourceRef="a" targetRef="z" />'
        '\n<d:nonsense id="n" />'
    )
    problems = problems_of(text)
    assert [(each.code, each.line, each.column) for each in problems] == [
        ("BPM006", 2, 1), ("BPM007", 4, 3), ("BPM008", 5, 1), ("BPM012", 6, 1),
    ]  # fmt: skip


def test_an_element_in_the_wrong_place_is_not_called_unknown() -> None:
    (problem,) = problems_of(in_process("", '<d:task id="t" />'))
    assert problem.reason == "a task does not belong where it stands"


def test_a_document_type_is_told_where_it_begins() -> None:
    (problem,) = problems_of(f"<!-- é -->\n <!DOCTYPE\n d [\n<!ENTITY a 'b'>]>\n{in_process('')}")
    assert (problem.code, problem.line, problem.column) == ("BPM002", 2, 2)


def test_a_near_name_is_suggested() -> None:
    (problem,) = problems_of(in_process('<d:serviceTsk id="a" />'))
    assert problem.hint == "Did you mean 'serviceTask'?"


def test_the_sentence_says_where_and_what() -> None:
    (problem,) = problems_of(in_process('<d:task id="a" default="z" />'), "orders.bpmn")
    column = len(OPENING) + len('<d:process id="p" isExecutable="true">') + 1
    assert problem.sentence() == (
        f"orders.bpmn:1:{column}: BPM008: a: default refers to 'z', which is not in the file."
        " Create it, or correct the reference."
    )


def test_a_file_with_countless_problems_tells_the_first_of_them() -> None:
    text = in_process("<d:task />" * 5000 + "<d:unknown />" * 5000)
    assert len(problems_of(text)) == read_limits.MAX_PROBLEMS


@pytest.mark.parametrize("text", ["<definitions />", f"{OPENING[:14]}x xmlns:d='urn:y' />", "<a:b xmlns:a='urn:a' />"])
def test_a_file_that_is_not_bpmn_is_refused(text: str) -> None:
    assert codes_of(text) == ["BPM005"]


def test_what_is_said_twice_in_the_same_way_is_no_fault() -> None:
    content = (
        f'<d:callActivity id="a" calledElement="q"><d:extensionElements {ZEEBE}><z:calledElement processId="q" />'
        "</d:extensionElements><d:multiInstanceLoopCharacteristics><d:extensionElements "
        f'{ZEEBE}><z:loopCharacteristics inputCollection="=for i in 1..2 return i" /></d:extensionElements>'
        "<d:loopCardinality>2</d:loopCardinality></d:multiInstanceLoopCharacteristics></d:callActivity>"
    )
    assert read_model(in_process(content))


def test_retries_must_be_a_number() -> None:
    extension = f'<d:extensionElements {ZEEBE}><z:taskDefinition type="x" retries="=n" /></d:extensionElements>'
    assert codes_of(in_process(f'<d:serviceTask id="a">{extension}</d:serviceTask>')) == ["BPM014"]


@pytest.mark.parametrize("x", ["", "wide", "nan", "inf", "1e999"])
def test_a_drawing_needs_numbers(x: str) -> None:
    drawing = (
        '<b:BPMNDiagram xmlns:b="http://www.omg.org/spec/BPMN/20100524/DI" '
        'xmlns:c="http://www.omg.org/spec/DD/20100524/DC"><b:BPMNPlane bpmnElement="p"><b:BPMNShape bpmnElement="a">'
        f'<c:Bounds x="{x}" y="0" width="1" height="1" /></b:BPMNShape></b:BPMNPlane></b:BPMNDiagram>'
    )
    assert codes_of(in_process('<d:task id="a" />', drawing)) == ["BPM014"]


def written(**changes: object) -> str:
    task = Task(id="t", **changes)  # type: ignore[arg-type]
    return write_model(Model(definitions=Definitions(id="d", processes=(Process(id="p", body=Scope(nodes=(task,))),))))


@pytest.mark.parametrize("character", ["\x00", "\x0b", "\x1f", "\ud800", "\ufffe", "\uffff"])
def test_a_character_xml_cannot_carry_is_not_written(character: str) -> None:
    with pytest.raises(ModelError, match=f"BPM017: t: it holds U\\+{ord(character):04X}") as caught:
        written(name=f"a{character}b")
    assert "Expected to write model" in caught.value.args[0]


@pytest.mark.parametrize("name", ["a b", "", "<", "what:ever", "xmlns", "xmlns:x", "{}x", "{u}", "1a", "a:b:c", "é"])
def test_a_name_xml_cannot_carry_is_not_written(name: str) -> None:
    with pytest.raises(ModelError, match="BPM017"):
        written(extensions=(Extension(name),))
    with pytest.raises(ModelError, match="BPM017"):
        written(extensions=(Extension("zeebe:x", {name: "v"}),))


def test_signals_without_a_name_and_the_closing_tag_are_fine() -> None:
    text = write_model(Model(definitions=Definitions(id="d", signals=(Signal(id="s"),))))
    assert '<bpmn:signal id="s" />' in text
    assert CLOSING.replace("d:", "bpmn:") in text
