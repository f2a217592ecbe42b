"""Lint as a whole: profiles, targets, contracts, broken and very large models."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.bpmn.lint.contract import Contract, VerbContract
from perdure.bpmn.lint.findings import PROFILES, TARGETS, Profile, Target
from perdure.bpmn.lint.lint import lint
from perdure.bpmn.model import (
    CallActivity,
    CompensationTrigger,
    Definitions,
    Event,
    Extension,
    Flow,
    Model,
    Process,
    Scope,
    SubProcess,
    Task,
    TimerTrigger,
    Trigger,
    Value,
)
from perdure.bpmn.xml import read_model
from perdure.verb_contract import FlagContract
from tests.bpmn.lint.model_builder import blocks, in_line, lead, model_of
from tests.bpmn.lint.models import all_files, files_of
from tests.bpmn.lint.models import model_of as model_in
from tests.bpmn.xml.fixtures import in_process

CONTRACT = Contract(
    verb="order.fulfil",
    process="order",
    sub_verbs=("order.left", "order.right", "order.yes"),
    flags=(FlagContract("orch_ready", "boolean", writers=("order.left", "order.right")),),
    verbs=(
        VerbContract(name="order.left", outputs=("status",), errors=("LATE",)),
        VerbContract(name="order.right", outputs=("status",)),
        VerbContract(name="order.yes"),
    ),
)


def codes(
    model: Model, profile: Profile = "hollow", target: Target = "embedded", contract: Contract | None = None
) -> set[str]:
    return {finding.code for finding in lint(model, profile=profile, target=target, contract=contract)}


def test_the_hollow_profile_refuses_what_the_open_one_allows() -> None:
    script = in_line(Task(id="total", name="Total", kind="script", type="order.total"))
    call = in_line(CallActivity(id="bill", name="Bill", process="billing"))
    assert "HOL001" in codes(script)
    assert "HOL013" in codes(call)
    assert codes(script, "open") == {"BPM128"}
    assert codes(call, "open") == {"BPM128", "BPM171"}


def test_a_called_process_is_an_error_when_all_are_known_and_a_warning_when_not() -> None:
    call = in_line(CallActivity(id="bill", name="Bill", process="billing"))

    def found(**more: Any) -> list[tuple[str, str]]:
        findings = lint(call, profile="open", **more)
        return [(each.code, each.severity) for each in findings if each.code != "BPM128"]

    contract = Contract(verb="order.fulfil", process="order", processes=("billing",))
    assert found() == found(others=["other"]) == [("BPM171", "warning")]
    assert found(knows_all=True) == found(others=["other"], knows_all=True) == [("BPM151", "error")]
    assert found(others=["billing"]) == found(others=["billing"], knows_all=True) == found(contract=contract) == []


def test_a_process_of_the_same_file_must_come_along_and_one_may_call_itself() -> None:
    model = model_in(files_of("BPM151", "right")[1])

    def facts(**more: Any) -> list[str]:
        return [each.fact for each in lint(model, profile="open", **more) if each.code == "BPM151"]

    assert facts() == facts(others=["order", "billing"], knows_all=True) == []
    assert facts(others=["order"], knows_all=True) == ["it calls 'billing', which is in this file and not deployed"]
    own = in_line(CallActivity(id="again", name="Again", process="order"))
    assert "BPM151" not in {each.code for each in lint(own, profile="open", knows_all=True)}


def test_the_caller_itself_is_not_proposed_for_a_process_that_is_not_known() -> None:
    call = in_line(CallActivity(id="bill", name="Bill", process="orders"))
    (found,) = [each for each in lint(call, profile="open", others=["order"], knows_all=True) if each.code == "BPM151"]
    assert found.hint == "Correct the id, or deploy the process first."


@pytest.mark.parametrize(("binding", "found"), [("latest", []), ("deployment", ["HOL010"]), ("versionTag", ["HOL010"])])
def test_a_call_that_wants_one_version_of_a_process_is_told_that_the_latest_is_called(
    binding: str, found: list[str]
) -> None:
    called = Extension(name="zeebe:calledElement", attributes={"bindingType": binding})
    call = in_line(CallActivity(id="bill", name="Bill", process="billing", extensions=(called,)))
    findings = lint(call, profile="open", others=["billing"])
    assert [each.code for each in findings if each.code != "BPM128"] == found


def test_no_profile_runs_code_found_in_a_file() -> None:
    script = in_line(Task(id="total", name="Total", kind="script", script="a + b"))
    for profile in PROFILES:
        found = lint(script, profile=profile)
        assert {"HOL001", "HOL020"} & {finding.code for finding in found if finding.severity == "error"}


@pytest.mark.req("V11")
def test_a_durable_verb_in_a_process_is_refused_in_every_profile() -> None:
    model = in_line(Task(id="pack", name="Pack", kind="service", type="order_pack"))
    verbs = (VerbContract(name="order-pack", is_durable=True),)
    contract = Contract(verb="order.fulfil", process="order", sub_verbs=("order-pack",), verbs=verbs)
    for profile in PROFILES:
        assert "HOL014" in codes(model, profile, contract=contract)


def test_a_process_that_is_but_a_start_event_is_connected_to_nothing() -> None:
    assert "BPM107" in codes(model_of(Event(id="start", name="Start", position="start")))
    assert "BPM107" not in codes(model_of(Task(id="pack", name="Pack", kind="service", type="order.pack")))


def test_rules_that_need_a_contract_are_silent_without_one() -> None:
    found = codes(blocks(2))
    assert not any(code.startswith("CON") for code in found)
    assert {"CON107", "CON108", "CON112"} <= codes(blocks(2), contract=CONTRACT)


def test_a_contract_is_about_its_own_process_only() -> None:
    call = Task(id="pack", name="Pack", kind="service", type="order.left")
    other = Task(id="else", name="Else", kind="service", type="billing.send")
    first, second = in_line(call), in_line(other)
    bodies = (first.definitions.processes[0].body, second.definitions.processes[0].body)
    processes = tuple(Process(id=id, body=body) for id, body in zip(("order", "billing"), bodies, strict=True))
    both = Model(definitions=Definitions(id="d", processes=processes))
    elements = {finding.element for finding in lint(both, contract=CONTRACT) if finding.code in ("HOL004", "HOL019")}
    assert elements == set()
    alone = Contract(verb="billing.run", process="billing", verbs=(VerbContract(name="order.left"),))
    assert {finding.element for finding in lint(both, contract=alone) if finding.code == "HOL019"} == {"else"}


def test_portability_is_asked_only_for_the_target() -> None:
    model = in_line(Event(id="tell", name="Tell", position="throw"))
    for target in TARGETS:
        assert codes(model, target=target) == {"BPM128"}
    assert all(finding.severity for finding in lint(model))


def test_what_reading_refuses_is_found_in_built_models_too() -> None:
    flows = (Flow(id="lost", source="start", target="nowhere"), *lead("start", "end"))
    start, end = Event(id="start", name="S", position="start"), Event(id="end", name="E", position="end")
    assert "BPM008" in codes(model_of(start, end, flows=flows))
    assert "BPM007" in codes(model_of(start, end, start, flows=lead("start", "end")))


def test_a_model_of_ten_thousand_elements_is_linted() -> None:
    found = lint(blocks(1250), contract=CONTRACT)
    assert sum(1 for finding in found if finding.code == "CON107") == 1250


def test_deeply_nested_models_are_linted() -> None:
    body = Scope(nodes=(Event(id="s0", position="start"), Event(id="e0", position="end")), flows=lead("s0", "e0"))
    for depth in range(1, 60):
        start, end = Event(id=f"s{depth}", position="start"), Event(id=f"e{depth}", position="end")
        inner = SubProcess(id=f"p{depth}", name="Inner", body=body)
        body = Scope(nodes=(start, inner, end), flows=lead(start.id, inner.id, end.id))
    model = Model(definitions=Definitions(id="d", processes=(Process(id="order", body=body),)))
    assert {finding.severity for finding in lint(model)} == {"info", "warning"}


def test_findings_come_in_the_order_of_the_file() -> None:
    for file in all_files():
        places = [(finding.line, finding.column) for finding in lint(model_in(file))]
        assert places == sorted(places)


DRAWN = """<d:BPMNDiagram xmlns:d="http://www.omg.org/spec/BPMN/20100524/DI"><d:BPMNPlane bpmnElement="p">
<d:BPMNShape id="ghost" bpmnElement="gone" /></d:BPMNPlane></d:BPMNDiagram>"""


@pytest.mark.parametrize(
    ("content", "roots", "element"),
    [
        ('<d:group id="frame" categoryValueRef="gone" />', "", "frame"),
        ('<d:dataStoreReference id="shelf" dataStoreRef="gone" />', "", "shelf"),
        ('<d:sendTask id="tell" operationRef="gone" />', "", "tell"),
        ("", '<d:message id="news" name="news" itemRef="gone" />', "news"),
        ("", DRAWN, "ghost"),
    ],
)
def test_what_only_describes_and_refers_to_nothing_is_a_warning(content: str, roots: str, element: str) -> None:
    found = [finding for finding in lint(read_model(in_process(content, roots))) if finding.code == "BPM008"]
    assert [(finding.severity, finding.element, "'gone'" in finding.fact) for finding in found] == [
        ("warning", element, True)
    ]
    assert found[0].line >= 1


@pytest.mark.parametrize(
    ("content", "code", "hint"),
    [
        (
            '<d:boundaryEvent id="a" attachedToRef="b" cancelactivity="false" /><d:task id="b" />',
            "BPM018",
            "cancelActivity",
        ),
        ('<d:serviceTask id="a" fooBar="1" />', "BPM018", "Remove it"),
        ('<d:exclusiveGateway id="a" gatewayDirection="Sideways" />', "BPM014", "Diverging"),
    ],
)
def test_an_attribute_that_has_no_effect_is_a_warning(content: str, code: str, hint: str) -> None:
    found = [finding for finding in lint(read_model(in_process(content))) if finding.code in ("BPM014", "BPM018")]
    assert [(finding.code, finding.severity, finding.element) for finding in found] == [(code, "warning", "a")]
    assert hint in found[0].hint


SHAPES = """<d:BPMNDiagram xmlns:d="http://www.omg.org/spec/BPMN/20100524/DI"><d:BPMNPlane id="plane" bpmnElement="p">
<d:BPMNShape id="{0}" bpmnElement="a" /><d:BPMNShape id="{1}" bpmnElement="b" /></d:BPMNPlane></d:BPMNDiagram>"""


@pytest.mark.parametrize(
    ("ids", "drawn", "code"),
    [
        (("1 a", "b"), ("x", "y"), "BPM014"),
        (("z:a", "b"), ("x", "y"), "BPM014"),
        (("a", "b"), ("x", "x"), "BPM007"),
        (("a", "b"), ("x", "b"), "BPM007"),
        (("ä-1.b", "_b"), ("x", "y"), ""),
    ],
)
def test_an_id_that_others_would_not_take_is_a_warning(ids: tuple[str, str], drawn: tuple[str, str], code: str) -> None:
    content = "".join(f'<d:task id="{id}" />' for id in ids)
    found = [each for each in lint(read_model(in_process(content, SHAPES.format(*drawn)))) if each.code < "BPM1"]
    told = [(each.code, each.severity) for each in found if "draws" not in each.fact]
    assert told == ([(code, "warning")] if code else [])


def test_attributes_of_other_namespaces_and_of_bpmn_are_no_misspelling() -> None:
    attributes = 'startQuantity="1" x:far="away" xmlns:x="urn:x" xml:lang="en"'
    model = read_model(in_process(f'<d:serviceTask id="a" {attributes} />'))
    assert not model.remarks


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_no_broken_model_makes_lint_fail(data: st.DataObject) -> None:
    model = model_in(data.draw(st.sampled_from(all_files())))
    process = model.definitions.processes[0]
    nodes, flows = process.body.nodes, process.body.flows
    kept = tuple(node for node in nodes if data.draw(st.booleans(), label=node.id))
    ids = [node.id for node in nodes] + ["nowhere", ""]
    bent = tuple(
        msgspec.structs.replace(flow, source=data.draw(st.sampled_from(ids)), target=data.draw(st.sampled_from(ids)))
        for flow in flows
    )
    body = msgspec.structs.replace(process.body, nodes=kept, flows=bent)
    broken = msgspec.structs.replace(process, body=body)
    definitions = msgspec.structs.replace(model.definitions, processes=(broken,), messages=(), errors=())
    profile, target = data.draw(st.sampled_from(PROFILES)), data.draw(st.sampled_from(TARGETS))
    lint(msgspec.structs.replace(model, definitions=definitions), profile=profile, target=target, contract=CONTRACT)


@pytest.mark.parametrize(
    ("cycle", "first"),
    [("R3/PT1H", "PT1H as a duration"), ("R3/2030-01-01T00:00:00Z/PT1H", "2030-01-01T00:00:00Z as a date")],
)
def test_a_timer_that_fires_once_is_told_to_say_its_first_time(cycle: str, first: str) -> None:
    timer = (TimerTrigger("cycle", Value(cycle)),)
    caught = Event(id="wait", position="catch", triggers=timer)
    late = Event(id="late", position="boundary", attached_to="pack", triggers=timer)
    found = lint(in_line(caught, Task(id="pack", kind="user"), late), profile="open")
    hints = {each.element: each.hint for each in found if each.code == "BPM192"}
    assert hints == {"wait": f"Write {first}.", "late": f"Write {first}, or let it not interrupt."}


@pytest.mark.parametrize(
    ("trigger", "why"),
    [
        (CompensationTrigger(), "compensation of what starts an instance is not carried out"),
        (TimerTrigger("duration", Value("PT1H")), "nothing happens while it waits"),
    ],
)
def test_why_a_task_that_starts_instances_has_no_boundary_event_is_told(trigger: Trigger, why: str) -> None:
    task = Task(id="paid", kind="receive", message="m", is_instantiating=True)
    event = Event(id="b", position="boundary", attached_to="paid", triggers=(trigger,))
    facts = [each.fact for each in lint(model_of(task, event), profile="open") if each.code == "BPM139"]
    assert facts == [f"its host 'paid' starts instances by its message, and {why}"]
