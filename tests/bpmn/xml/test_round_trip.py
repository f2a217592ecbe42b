"""What is written reads back as the same model, whatever the model holds."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from perdure.bpmn import model as ir
from perdure.bpmn.content_hash import content_hash
from perdure.bpmn.diagram_selection import diagram_of
from perdure.bpmn.layout import lay_out
from perdure.bpmn.lint.lint import lint
from perdure.bpmn.model import Model
from perdure.bpmn.xml import read_model, write_model
from tests.bpmn.strategies import models
from tests.bpmn.xml.fixtures import CLOSING, FIXTURES, OPENING, fixture, in_process

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@settings(deadline=None, max_examples=60, suppress_health_check=QUIET)
@given(models())
def test_a_model_that_is_written_reads_back_as_the_same(model: Model) -> None:
    text = write_model(model)
    again = read_model(text)
    assert again.definitions == model.definitions
    if model.diagram is not None:
        assert again.diagram == model.diagram
        assert write_model(again) == text


@pytest.mark.parametrize("name", FIXTURES)
def test_a_file_that_is_read_and_written_reads_back_as_the_same(name: str) -> None:
    model = fixture(name)
    again = read_model(write_model(model))
    assert again.definitions == model.definitions
    assert again.diagram == (model.diagram or lay_out(model.definitions))


@pytest.mark.parametrize(
    "inner",
    [
        '<d:endEvent id="e"><d:messageEventDefinition {0} /></d:endEvent>',
        '<d:endEvent id="e"><d:signalEventDefinition /><d:signalEventDefinition {0} /></d:endEvent>',
        '<d:startEvent id="e"><d:timerEventDefinition><d:timeDate {0}>2030-01-01</d:timeDate></d:timerEventDefinition>'
        "</d:startEvent>",
        '<d:task id="a"><d:standardLoopCharacteristics {0}><d:loopCondition {0}>=orch_x</d:loopCondition>'
        "</d:standardLoopCharacteristics></d:task>",
        '<d:task id="a"><d:multiInstanceLoopCharacteristics {0}><d:loopCardinality {0}>3</d:loopCardinality>'
        "</d:multiInstanceLoopCharacteristics></d:task>",
        '<d:task id="a"><d:multiInstanceLoopCharacteristics><d:extensionElements><c:cycle xmlns:c="urn:c" {0} />'
        "</d:extensionElements></d:multiInstanceLoopCharacteristics></d:task>",
        '<d:complexGateway id="g"><d:activationCondition {0}>=orch_x</d:activationCondition></d:complexGateway>',
        '<d:adHocSubProcess id="a"><d:completionCondition {0}>=orch_x</d:completionCondition></d:adHocSubProcess>',
        '<d:task id="a" /><d:sequenceFlow id="f" sourceRef="a" targetRef="a"><d:conditionExpression {0}>=orch_x'
        "</d:conditionExpression></d:sequenceFlow>",
    ],
)
def test_attributes_inside_events_loops_and_conditions_are_kept(inner: str) -> None:
    content = inner.format('xmlns:x="urn:x" x:far="away"')
    text = write_model(model := read_model(in_process(content)))
    assert text.count('="away"') == content.count("away")
    assert read_model(text).definitions == model.definitions


WORDS = "<d:documentation>Why it is so.</d:documentation>"
DRAWN = """
<d:collaboration id="c"><d:participant id="pool" processRef="p">{about}</d:participant></d:collaboration>
<d:process id="p" isExecutable="true">
  <d:laneSet><d:lane id="lane">{about}<d:flowNodeRef>a</d:flowNodeRef></d:lane></d:laneSet>
  <d:dataObject id="o"/><d:dataObjectReference id="r" dataObjectRef="o">{about}</d:dataObjectReference>
  <d:serviceTask id="a"><d:dataInputAssociation id="needs"><d:sourceRef>r</d:sourceRef></d:dataInputAssociation>
  </d:serviceTask>
</d:process>
<d:message id="m" name="m">{about}</d:message>
<i:BPMNDiagram xmlns:i="http://www.omg.org/spec/BPMN/20100524/DI" id="di"><i:BPMNPlane id="plane" bpmnElement="c">
  <i:BPMNShape id="s" bpmnElement="a"><b:Bounds xmlns:b="http://www.omg.org/spec/DD/20100524/DC" x="1" y="2"
    width="100" height="80"/></i:BPMNShape>
  <i:BPMNEdge id="e" bpmnElement="needs"><w:waypoint xmlns:w="http://www.omg.org/spec/DD/20100524/DI" x="9" y="8"/>
  </i:BPMNEdge></i:BPMNPlane></i:BPMNDiagram>
"""


def test_what_is_said_of_pools_lanes_data_and_messages_and_how_data_is_joined_is_kept_with_the_drawing() -> None:
    model = read_model(OPENING + DRAWN.format(about=WORDS) + CLOSING)
    again = read_model(write_model(model))
    assert again.diagram is not None
    assert again.diagram.notes == dict.fromkeys(("pool", "lane", "r", "m"), "Why it is so.")
    assert [edge.element for edge in again.diagram.edges] == ["needs"]
    assert again.definitions == model.definitions
    own = diagram_of(model, model.definitions.processes[0])
    assert own is not None
    assert own.notes == dict.fromkeys(("lane", "r", "m"), "Why it is so."), "a pool is of the file, not of the process"
    assert own.edges == again.diagram.edges


def test_what_is_said_of_pools_lanes_data_and_messages_is_kept_without_a_drawing() -> None:
    undrawn = DRAWN.partition("<i:BPMNDiagram")[0]
    model = read_model(OPENING + undrawn.format(about=WORDS) + CLOSING)
    assert model.diagram is not None
    assert model.diagram.notes == dict.fromkeys(("pool", "lane", "r", "m"), "Why it is so.")
    again = read_model(write_model(model))
    assert again.diagram is not None
    assert again.diagram.notes == model.diagram.notes
    assert {shape.element for shape in again.diagram.shapes} >= {"a", "lane", "pool"}
    own = diagram_of(model, model.definitions.processes[0])
    assert own is not None
    assert (own.is_blank(), own.notes) == (True, dict.fromkeys(("lane", "r", "m"), "Why it is so."))
    assert read_model(OPENING + undrawn.format(about="") + CLOSING).diagram is None
    assert [each.element for each in lint(model, profile="open") if each.code == "BPM128"] == ["p"]


def test_what_is_said_of_lanes_and_messages_changes_no_content_and_its_absence_no_drawing() -> None:
    without, told = (read_model(OPENING + DRAWN.format(about=said) + CLOSING) for said in ("", WORDS))
    assert content_hash(without.definitions, "p") == content_hash(told.definitions, "p")
    assert without.diagram is not None
    assert "notes" not in msgspec.to_builtins(without.diagram)


def test_the_files_fill_every_field_of_the_process_model() -> None:
    seen: set[tuple[str, str]] = set()
    for name in FIXTURES:
        _note(fixture(name), seen)
    assert _all_fields() - seen == set()


def _all_fields() -> set[tuple[str, str]]:
    kinds = [each for each in vars(ir).values() if isinstance(each, type) and issubclass(each, msgspec.Struct)]
    concrete = [each for each in kinds if each not in (ir.Element, ir.Activity)]
    return {(each.__name__, field.name) for each in concrete for field in msgspec.structs.fields(each)}


def _note(value: Any, seen: set[tuple[str, str]]) -> None:
    """Notes each field that has a value other than its default."""
    if isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            inner = getattr(value, field.name)
            default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
            if inner != default:
                seen.add((type(value).__name__, field.name))
            _note(inner, seen)
    elif isinstance(value, tuple | dict):
        for each in value.values() if isinstance(value, dict) else value:
            _note(each, seen)
