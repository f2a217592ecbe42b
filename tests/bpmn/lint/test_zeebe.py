"""Extensions of Camunda 8 that nothing would come of are told, and the others are left alone."""

from __future__ import annotations

import pytest

from perdure.bpmn.lint.findings import Finding
from perdure.bpmn.lint.lint import lint
from perdure.bpmn.xml import read_model, write_model
from perdure.bpmn.xml.extension_schema import ATTRIBUTES_OF, MODELLED, PARTS, PARTS_OF, PLACES, ZEEBE
from perdure.errors import ModelError

HEAD = (
    '<d:definitions xmlns:d="http://www.omg.org/spec/BPMN/20100524/MODEL" id="all" targetNamespace="urn:t" '
    'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" xmlns:camunda="http://camunda.org/schema/1.0/bpmn" '
    'xmlns:other="urn:other" xmlns:contract="https://ameide.io/schema/bpmn/extensions/v1">'
)
OF_ASSIGNMENT = "Put it into zeebe:assignmentDefinition."
TYPE = '<zeebe:taskDefinition type="v.a" />'
MESSAGE = '<d:message id="m" name="m">{}</d:message>'
LOOP = (
    "<d:multiInstanceLoopCharacteristics>{}<d:loopCardinality>2</d:loopCardinality>"
    "</d:multiInstanceLoopCharacteristics>"
)


def extended(content: str) -> str:
    return f"<d:extensionElements>{content}</d:extensionElements>" if content else ""


def element(name: str, content: str = "", after: str = "") -> str:
    return f'<d:{name} id="x" name="x">{extended(content)}{after}</d:{name}>'


def model(node: str, *, process: str = "", root: str = "", flow: str = "", lane: str = "") -> bytes:
    lanes = f'<d:laneSet id="ls"><d:lane id="l" name="l">{extended(lane)}</d:lane></d:laneSet>' if lane else ""
    return (
        f'{HEAD}{root}<d:process id="p" name="p" isExecutable="true">{extended(process)}{lanes}'
        f'<d:startEvent id="s" name="s" />{node}<d:endEvent id="e" name="e" />'
        f'<d:sequenceFlow id="f" sourceRef="s" targetRef="x">{extended(flow)}</d:sequenceFlow>'
        '<d:sequenceFlow id="g" sourceRef="x" targetRef="e" /></d:process></d:definitions>'
    ).encode()


def found(file: bytes) -> list[Finding]:
    return [each for each in lint(read_model(file)) if each.code == "HOL010"]


def hints(file: bytes) -> list[str]:
    return [each.hint for each in found(file)]


SERVICE = element("serviceTask", TYPE)
FORM = '<zeebe:formDefinition formId="begin" />'


@pytest.mark.parametrize(
    ("node", "content", "hint"),
    [
        ("serviceTask", '<zeebe:taskDefinition type="v.a" retires="5" />', "Did you mean 'retries'?"),
        ("userTask", '<zeebe:assignmentDefinition asignee="joe" />', "Did you mean 'assignee'?"),
        ("userTask", '<zeebe:taskSchedule duedate="2030-01-01T00:00:00Z" />', "Did you mean 'dueDate'?"),
        ("userTask", '<zeebe:userTask assignee="joe" />', OF_ASSIGNMENT),
        ("userTask", '<zeebe:userTask colour="red" />', "Remove it."),
        ("userTask", '<zeebe:priorityDefinition prio="5" />', "Did you mean 'priority'?"),
        ("userTask", '<zeebe:formDefinition formid="f" />', "Did you mean 'formId'?"),
        (
            "callActivity",
            '<zeebe:calledElement processId="p" propagateAllChildVariablesx="false" />',
            "Did you mean 'propagateAllChildVariables'?",
        ),
        (
            "serviceTask",
            f'{TYPE}<zeebe:taskHeaders><zeebe:header kee="a" value="b" /></zeebe:taskHeaders>',
            "Did you mean 'key'?",
        ),
        ("serviceTask", f'{TYPE}<zeebe:taskHeaders><zeebe:header value="b" /></zeebe:taskHeaders>', "Add key."),
        (
            "serviceTask",
            f'{TYPE}<zeebe:properties><zeebe:property name="a" valu="b" /></zeebe:properties>',
            "Did you mean 'value'?",
        ),
        (
            "serviceTask",
            f'{TYPE}<zeebe:ioMapping><zeebe:input source="=orch_a" target="orch_a" sauce="" /></zeebe:ioMapping>',
            "Did you mean 'source'?",
        ),
    ],
)
def test_an_attribute_that_an_extension_does_not_have_is_told_with_what_was_meant(
    node: str, content: str, hint: str
) -> None:
    file = model(element(node, content))
    assert hints(file) == [hint]
    assert [each.element for each in found(file)] == ["x"]
    again = read_model(write_model(read_model(file)).encode())
    assert again.definitions == read_model(file).definitions


@pytest.mark.parametrize(
    ("file", "hint"),
    [
        (model(SERVICE, process='<zeebe:versionTag valu="1" />'), "Did you mean 'value'?"),
        (
            model(SERVICE, root=MESSAGE.format(extended('<zeebe:subscription correlationkey="=orch_k" />'))),
            "Did you mean 'correlationKey'?",
        ),
        (
            model(element("serviceTask", TYPE, LOOP.format(extended('<zeebe:loopCharacteristics inputElment="i" />')))),
            "Did you mean 'inputElement'?",
        ),
        (model(SERVICE.replace("<d:serviceTask", '<d:serviceTask zeebe:assignee="joe"')), OF_ASSIGNMENT),
    ],
)
def test_so_it_is_in_processes_messages_and_loops(file: bytes, hint: str) -> None:
    assert hints(file) == [hint]


OF_PEOPLE = ("userTask", "assignmentDefinition", "taskSchedule", "priorityDefinition", "formDefinition")
MISPLACED = [
    *((node, "taskDefinition") for node in ("exclusiveGateway", "subProcess", "callActivity")),
    *((node, name) for node in ("exclusiveGateway", "subProcess", "intermediateThrowEvent") for name in OF_PEOPLE),
    ("exclusiveGateway", "ioMapping"),
    ("serviceTask", "subscription"),
    ("serviceTask", "input"),
    ("serviceTask", "header"),
]


@pytest.mark.parametrize(("node", "name"), MISPLACED)
def test_an_extension_that_nothing_reads_where_it_stands_is_told(node: str, name: str) -> None:
    assert hints(model(element(node, f"<zeebe:{name} />"))) == [PLACES[f"zeebe:{name}"]]


@pytest.mark.parametrize("name", ["ioMapping", "taskDefinition", "subscription", *OF_PEOPLE])
def test_so_it_is_outside_nodes(name: str) -> None:
    content = f"<zeebe:{name} />"
    looped = element("serviceTask", TYPE, LOOP.format(extended(content)))
    files = {
        "f": model(SERVICE, flow=content),
        "p": model(SERVICE, process=content),
        "l": model(SERVICE, lane=content),
        "sig": model(SERVICE, root=f'<d:signal id="sig" name="sig">{extended(content)}</d:signal>'),
        "x": model(looped),
    }
    if name != "subscription":
        files["m"] = model(SERVICE, root=MESSAGE.format(extended(content)))
    for id, file in files.items():
        assert [(each.element, each.hint) for each in found(file)] == [(id, PLACES[f"zeebe:{name}"])]
        assert all(each.line for each in found(file))


@pytest.mark.parametrize(
    "content",
    [
        "<camunda:inputOutput><camunda:inputParameter><camunda:list /></camunda:inputParameter></camunda:inputOutput>",
        '<zeebe:iomapping><zeebe:input source="=a" target="b" /></zeebe:iomapping>',
        '<zeebe:publishMessage messageId="=orch_i"><zeebe:header /></zeebe:publishMessage>',
        '<zeebe:jobPriorityDefinition priority="5" />',
    ],
)
def test_what_nothing_comes_of_is_told_once_with_all_that_is_in_it(content: str) -> None:
    assert len(found(model(element("serviceTask", TYPE + content)))) == 1


@pytest.mark.parametrize(
    "file",
    [
        model(element("serviceTask", '<zeebe:taskDefinition id="t" type="v.a" other:colour="red" />')),
        model(element("userTask", '<zeebe:formDefinition formKey="f" externalReference="r" bindingType="latest" />')),
        model(SERVICE.replace("<d:serviceTask", '<d:serviceTask zeebe:modelerTemplate="t"')),
        model(SERVICE, flow='<zeebe:properties><zeebe:property name="a" value="b" /></zeebe:properties>'),
        model(SERVICE, lane='<zeebe:properties><zeebe:property name="a" value="b" /></zeebe:properties>'),
        model(element("serviceTask", f"{TYPE}<other:look><zeebe:input /></other:look>")),
        model(SERVICE, process='<zeebe:userTaskForm id="f">{}</zeebe:userTaskForm>'),
    ],
)
def test_what_the_modeler_writes_and_what_is_of_others_is_left_alone(file: bytes) -> None:
    assert found(file) == []


@pytest.mark.parametrize("node", ["serviceTask", "intermediateThrowEvent"])
def test_two_task_types_that_differ_are_refused(node: str) -> None:
    twice = TYPE + '<contract:taskDefinition type="{}" policyRef="p" />'
    read_model(model(element(node, twice.format("v.a"))))
    with pytest.raises(ModelError) as refused:
        read_model(model(element(node, twice.format("v.b"))))
    assert [(each.code, each.field) for each in refused.value.problems] == [("BPM015", "x")]


def test_the_table_knows_every_attribute_that_is_read_and_every_place() -> None:
    assert all(set(known) <= ATTRIBUTES_OF[name] for name, known in MODELLED.items())
    assert all(key in ATTRIBUTES_OF[part] for parts in PARTS_OF.values() for part, key in parts.items())
    assert {*MODELLED, *PARTS} - {"zeebe:properties"} <= set(PLACES) <= ZEEBE


def test_the_form_of_whoever_starts_a_process_is_left_alone() -> None:
    start = f'<d:startEvent id="s" name="s">{extended(FORM)}</d:startEvent>'
    assert found(model(SERVICE).replace(b'<d:startEvent id="s" name="s" />', start.encode())) == []
