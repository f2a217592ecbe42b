"""Models in the dialect of Zeebe: what is written where Camunda 8 would refuse, ignore or misread ours."""

from __future__ import annotations

import pytest

from perdure.bpmn.camunda import zeebe_xml
from perdure.bpmn.xml import read_model, write_model
from perdure.verb_contract import FlagContract
from tests.bpmn.xml.fixtures import in_process

ZEEBE = 'xmlns:z="http://camunda.org/schema/zeebe/1.0"'
USER = f"""<d:startEvent id="s"/><d:userTask id="ask"><d:extensionElements {ZEEBE}>
<z:assignmentDefinition candidateGroups="=orch_groups"/><z:taskSchedule dueDate="P3D" followUpDate="=orch_when"/>
<z:properties><z:property name="intake" value="order.note"/></z:properties>
</d:extensionElements></d:userTask>"""
COUNTED = """<d:serviceTask id="each"><d:multiInstanceLoopCharacteristics>
<d:loopCardinality>{count}</d:loopCardinality>
<d:completionCondition>=orch_completed_count &gt;= 2</d:completionCondition>
</d:multiInstanceLoopCharacteristics></d:serviceTask>"""


def exported(content: str, roots: str = "", *flags: FlagContract) -> str:
    return zeebe_xml(read_model(in_process(content, roots)), {"p": flags}).replace("&#34;", "'")


def test_an_intake_runs_as_a_listener_at_the_end_of_the_wait() -> None:
    assert '<zeebe:executionListener eventType="end" type="order.note" />' in exported(USER)


def test_a_user_task_is_one_of_zeebes_own_with_dates_and_lists_as_expressions() -> None:
    text = exported(USER)
    assert "<zeebe:userTask />" in text
    assert "dueDate=\"=now() + duration('P3D')\"" in text
    span = "duration(orch_when)"
    date = f"if {span} = null then orch_when else now() + {span}"
    assert f"followUpDate=\"=if orch_when = '' then null else {date}\"" in text
    assert "candidateGroups=\"=if orch_groups = '' then [] else split(orch_groups, ', *')\"" in text


@pytest.mark.parametrize(
    ("span", "parts"),
    [
        ("P1W", ["PT604800S"]),
        ("P1Y2M3DT4H", ["P14M", "PT273600S"]),
        ("P1MT0.25S", ["P1M", "PT0.25S"]),
        ("P1Y", ["P1Y"]),
        ("PT36H", ["PT36H"]),
    ],
)
def test_a_duration_is_written_in_parts_that_feel_reads(span: str, parts: list[str]) -> None:
    said = " + ".join(f"duration('{part}')" for part in parts)
    assert f'dueDate="=now() + {said}"' in exported(USER.replace("P3D", span))


def test_a_date_stays_a_date() -> None:
    assert 'dueDate="2030-01-31T09:00:00Z"' in exported(USER.replace("P3D", "2030-01-31T09:00:00Z"))


def test_a_start_gives_every_flag_a_value_that_nobody_gave() -> None:
    flags = (FlagContract("orch_paid", "boolean"), FlagContract("orch_way", "enum", ("post", "van"), "van"))
    text = exported(USER, "", *flags)
    assert 'source="=if orch_paid = null then false else orch_paid" target="orch_paid"' in text
    assert 'source="=if orch_way = null then \'van\' else orch_way" target="orch_way"' in text


def test_no_iteration_is_an_empty_collection_and_the_count_is_that_of_zeebe() -> None:
    text = exported(COUNTED.format(count="=orch_n"))
    counted = "if orch_n &lt; 0 then null else if orch_n &lt; 1 then [] else for i in 1..orch_n return i"
    assert f'inputCollection="={counted}"' in text
    assert "=numberOfCompletedInstances &gt;= 2" in text
    assert 'inputCollection="=[]"' in exported(COUNTED.format(count="0"))
    assert 'inputCollection="=for i in 1..3 return i"' in exported(COUNTED.format(count="3"))


def test_a_literal_key_is_an_expression() -> None:
    key = f'<d:extensionElements {ZEEBE}><z:subscription correlationKey="k"/></d:extensionElements>'
    text = exported(
        '<d:receiveTask id="wait" messageRef="paid"/>', f'<d:message id="paid" name="paid">{key}</d:message>'
    )
    assert "correlationKey=\"='k'\"" in text


def test_a_default_flow_has_no_condition() -> None:
    ways = """<d:exclusiveGateway id="x" default="b"/><d:endEvent id="one"/><d:endEvent id="two"/>
    <d:sequenceFlow id="a" sourceRef="x" targetRef="one">
    <d:conditionExpression>=orch_paid = true</d:conditionExpression></d:sequenceFlow>
    <d:sequenceFlow id="b" sourceRef="x" targetRef="two">
    <d:conditionExpression id="odd">=orch_paid = false</d:conditionExpression></d:sequenceFlow>"""
    text = exported(ways)
    assert "orch_paid = true" in text
    assert "orch_paid = false" not in text


def test_every_event_definition_has_an_id_of_its_own_and_the_bytes_are_the_same_each_time() -> None:
    events = """<d:startEvent id="s"/><d:endEvent id="undo_definition"/>
    <d:intermediateThrowEvent id="undo"><d:compensateEventDefinition/></d:intermediateThrowEvent>
    <d:intermediateThrowEvent id="go"><d:linkEventDefinition name="on"/></d:intermediateThrowEvent>"""
    text = exported(events)
    assert '<bpmn:compensateEventDefinition id="undo_definition_2" />' in text
    assert '<bpmn:linkEventDefinition id="go_definition" name="on" />' in text
    assert exported(events) == text
    model = read_model(in_process(events))
    assert read_model(write_model(model)).definitions == model.definitions


def test_the_flow_that_is_asked_first_is_the_last_in_the_file_where_zeebe_begins() -> None:
    """Seen on 8.6 and 8.8: of two conditions that hold, the one further down the file wins."""
    ways = (
        '<d:exclusiveGateway id="g" />'
        + "".join(f'<d:endEvent id="{each}" />' for each in ("one", "two", "three"))
        + "".join(
            f'<d:sequenceFlow id="g_{each}" sourceRef="g" targetRef="{each}"><d:conditionExpression>'
            f"=orch_n &gt; {n}</d:conditionExpression></d:sequenceFlow>"
            for n, each in enumerate(("one", "two", "three"))
        )
    )
    text = exported(ways)
    places = [text.index(f'<bpmn:sequenceFlow id="g_{each}"') for each in ("three", "two", "one")]
    assert places == sorted(places)


def test_what_catches_any_escalation_names_none() -> None:
    caught = (
        '<d:subProcess id="part"><d:startEvent id="ps" /></d:subProcess>'
        '<d:boundaryEvent id="any" cancelActivity="false" attachedToRef="part">'
        '<d:escalationEventDefinition escalationRef="nameless" /></d:boundaryEvent>'
        '<d:boundaryEvent id="late" cancelActivity="false" attachedToRef="part">'
        '<d:escalationEventDefinition escalationRef="LATE" /></d:boundaryEvent>'
    )
    text = exported(
        caught,
        '<d:escalation id="nameless" name="anything" /><d:escalation id="LATE" escalationCode="LATE" />',
    )
    assert 'escalationRef="nameless"' not in text
    assert 'escalationRef="LATE"' in text
