"""Links have no other way in or out, start timers know no flags, and every finding has a place."""

from __future__ import annotations

from perdure.bpmn.lint.lint import lint
from perdure.bpmn.model import Event, LinkTrigger, Model, Task, TimerTrigger, Value
from perdure.bpmn.xml import read_model
from tests.bpmn.lint.model_builder import lead, model_of
from tests.house.tree import ROOT

NOTHING = '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"/>'


def codes_at(model: Model) -> set[tuple[str, str]]:
    return {(finding.code, finding.element) for finding in lint(model, profile="open")}


def linked(*more: tuple[str, ...]) -> Model:
    link = (LinkTrigger("there"),)
    return model_of(
        Event(id="start", position="start"), Task(id="work"), Event(id="go", position="throw", triggers=link),
        Event(id="come", position="catch", triggers=link), Event(id="end", position="end"),
        flows=(*lead("start", "work", "go"), *lead("come", "end"), *(flow for each in more for flow in lead(*each))),
    )  # fmt: skip


def starting(value: Value) -> Model:
    begin = Event(id="begin", position="start", triggers=(TimerTrigger("duration", value),))
    return model_of(begin, Event(id="end", position="end"), flows=lead("begin", "end"))


def test_a_link_has_no_flow_out_of_its_throwing_end_nor_into_its_catching_end() -> None:
    assert not any(code == "BPM127" for code, _ in codes_at(linked()))
    assert ("BPM127", "go") in codes_at(linked(("go", "end")))
    assert ("BPM127", "come") in codes_at(linked(("work", "come")))


def test_a_timer_that_starts_instances_cannot_read_a_flag() -> None:
    assert ("BPM144", "begin") in codes_at(starting(Value("orch_pause", "flag")))
    assert ("BPM144", "begin") not in codes_at(starting(Value("PT1H")))


def test_a_finding_about_the_whole_file_stands_on_its_first_line() -> None:
    assert [(finding.code, finding.line) for finding in lint(read_model(NOTHING))] == [("BPM101", 1)]


def test_a_message_that_starts_instances_behind_a_gateway_needs_no_key() -> None:
    file = ROOT / "tests" / "scenarios" / "trial" / "models" / "race-start.bpmn"
    assert not any(finding.severity == "error" for finding in lint(read_model(file.read_bytes())))
