"""Plain BPMN 2.0 and the contract profile: any prefix, every kind of element, unfinished models."""

from __future__ import annotations

import pytest

from perdure.bpmn.conditions.tree import Compare, Condition, Foreign
from perdure.bpmn.lint.lint import lint
from perdure.bpmn.model import (
    Annotation,
    Association,
    CancelTrigger,
    CompensationTrigger,
    ConditionalTrigger,
    ErrorTrigger,
    EscalationTrigger,
    Event,
    Extension,
    Gateway,
    LinkTrigger,
    MessageFlow,
    MessageTrigger,
    MultiInstance,
    Node,
    Participant,
    SignalTrigger,
    StandardLoop,
    SubProcess,
    Task,
    TerminateTrigger,
    TimerTrigger,
    Value,
    nodes,
)
from perdure.bpmn.xml import read_model, write_model
from tests.bpmn.xml.fixtures import CLOSING, OPENING, fixture, in_process

BLANKS = in_process(
    '<d:startEvent id="{open}s{close}"><d:outgoing>{open}f{close}</d:outgoing></d:startEvent>'
    '<d:exclusiveGateway id="x{close}" default="{open}g"><d:incoming>f</d:incoming></d:exclusiveGateway>'
    '<d:endEvent id="e" /><d:callActivity id="c" calledElement="{open}other" />'
    '<d:receiveTask id="r" messageRef="{open}m{close}" />'
    '<d:boundaryEvent id="b" attachedToRef="{open}r{close}"><d:timerEventDefinition /></d:boundaryEvent>'
    '<d:sequenceFlow id="f{close}" sourceRef="{open}s" targetRef="x{close}" />'
    '<d:sequenceFlow id="g" sourceRef="{open}x{close}" targetRef="{open}e" />',
    '<d:message id="{open}m" name="asked" />',
)
OPERATION = (
    '<d:message id="asked" name="asked" /><d:interface id="i" name="i"><d:operation id="ask" name="ask">'
    "<d:inMessageRef>asked</d:inMessageRef><d:outMessageRef>told</d:outMessageRef></d:operation></d:interface>"
)


@pytest.fixture(scope="module")
def settled() -> dict[str, Node]:
    return {node.id: node for node in nodes(fixture("settlement").definitions.processes[0].body)}


def only(text: str) -> Node:
    return read_model(text).definitions.processes[0].body.nodes[0]


def test_blanks_around_ids_and_references_are_no_part_of_them() -> None:
    tidy = BLANKS.format(open="", close="")
    loose = BLANKS.format(open=" ", close="\n  ")
    assert read_model(loose).definitions == read_model(tidy).definitions
    assert read_model(loose).remarks == read_model(tidy).remarks == ()


def test_text_with_marks_in_it_is_read_without_them() -> None:
    marked = (
        '<p xmlns="http://www.w3.org/1999/xhtml">Look <b>well</b> at it.</p><p xmlns="urn:x">Twice &amp; slowly.</p>'
    )
    content = f'<d:task id="a"><d:documentation>{marked}</d:documentation></d:task>'
    model = read_model(in_process(f'{content}<d:textAnnotation id="t"><d:text>{marked}</d:text></d:textAnnotation>'))
    body = model.definitions.processes[0].body
    assert body.nodes[0].documentation == body.annotations[0].text == "Look well at it.\nTwice & slowly.\n"
    assert read_model(write_model(model)).definitions == model.definitions


def test_conversations_are_not_kept_and_that_is_remarked() -> None:
    pool = '<d:participant id="q" processRef="p" /><d:conversation id="c" />'
    model = read_model(in_process('<d:task id="a" />', f'<d:collaboration id="both">{pool}</d:collaboration>'))
    assert [(each.code, each.element) for each in model.remarks] == [("BPM013", "c")]


def test_an_operation_that_names_a_message_which_is_not_there_is_remarked() -> None:
    model = read_model(in_process('<d:task id="a" />', OPERATION))
    assert [(each.code, each.element, each.fact) for each in model.remarks] == [
        ("BPM008", "ask", "outMessageRef refers to 'told', which is not in the file")
    ]
    assert model.referred == {"asked"}


@pytest.mark.parametrize(
    ("id", "trigger"),
    [
        ("nightly", TimerTrigger("cycle", Value("R/P1D"))),
        ("until", TimerTrigger("date", Value("orch_when", "flag"))),
        ("undo", CompensationTrigger(waits=False)),
        ("all-off", CancelTrigger()),
        ("escalated", EscalationTrigger("help")),
        ("far", LinkTrigger("away")),
        ("near", LinkTrigger("away")),
        ("over", TerminateTrigger()),
        ("caught", ErrorTrigger("broken")),
    ],
)
def test_every_kind_of_event_definition_is_read(id: str, trigger: object, settled: dict[str, Node]) -> None:
    event = settled[id]
    assert isinstance(event, Event)
    assert event.triggers == (trigger,)


def test_an_event_with_several_definitions_may_need_all_of_them(settled: dict[str, Node]) -> None:
    either = settled["either"]
    assert isinstance(either, Event)
    assert either.triggers == (SignalTrigger("stop"), ConditionalTrigger(Compare("orch_open", "=", False)))
    assert either.is_parallel
    assert not either.is_interrupting


@pytest.mark.parametrize(
    ("id", "kind"),
    [
        ("book", "script"), ("await-advice", "receive"), ("pay", "service"), ("sign-off", "user"), ("tell", "send"),
        ("file-it", "manual"), ("score", "business_rule"), ("nothing", "none"),
    ],
)  # fmt: skip
def test_every_kind_of_task_is_read(id: str, kind: str, settled: dict[str, Node]) -> None:
    task = settled[id]
    assert isinstance(task, Task)
    assert task.kind == kind


def test_a_script_is_kept_as_text_and_a_loop_with_its_bounds(settled: dict[str, Node]) -> None:
    book = settled["book"]
    assert isinstance(book, Task)
    assert (book.script, book.script_language) == ("  BOOK <all> & sundry\n", "text/x-token")
    assert book.repeat == StandardLoop(Compare("orch_open", "=", True), is_tested_before=True, maximum=7)


def test_every_kind_of_subprocess_is_read(settled: dict[str, Node]) -> None:
    found = {id: node for id, node in settled.items() if isinstance(node, SubProcess)}
    assert {id: node.kind for id, node in found.items()} == {
        "work": "transaction", "check": "ad_hoc", "on-error": "event",
    }  # fmt: skip
    check = found["check"]
    assert (check.ordering, check.cancels_remaining) == ("sequential", False)
    assert check.completion == Compare("orch_completed_count", ">=", 1)
    assert found["work"].default == "f3"
    assert found["work"].documentation == "One\nTwo"


def test_gateways_keep_what_makes_them_special(settled: dict[str, Node]) -> None:
    pick, wait = settled["pick"], settled["wait"]
    assert isinstance(pick, Gateway)
    assert isinstance(wait, Gateway)
    assert (pick.kind, pick.activation) == ("complex", Compare("orch_activation_count", ">=", 2))
    assert (wait.kind, wait.is_instantiating) == ("event", True)
    assert wait.extensions == (Extension("attributes", {"eventGatewayType": "Parallel"}),)


def test_compensation_is_joined_to_its_handler(settled: dict[str, Node]) -> None:
    work, refund = settled["work"], settled["refund"]
    assert isinstance(work, SubProcess)
    assert isinstance(refund, Task)
    assert work.body.associations == (Association(id="undo-line", source="undo", target="refund", direction="One"),)
    assert refund.is_for_compensation
    assert refund.extensions == ()


def test_standard_content_without_meaning_here_is_kept(settled: dict[str, Node]) -> None:
    assert [each.name for each in settled["work"].extensions] == [
        "bpmn:ioSpecification", "bpmn:multiInstanceLoopCharacteristics",
    ]  # fmt: skip
    assert settled["book"].extensions == (Extension("attributes", {"startQuantity": "2"}),)


def test_pools_lanes_and_message_flows_are_read_and_prefixes_of_references_mean_nothing() -> None:
    definitions = fixture("settlement").definitions
    collaboration = definitions.collaboration
    assert collaboration is not None
    assert collaboration.participants[0] == Participant(id="back-office", name="Back office", process="settle")
    assert collaboration.message_flows == (
        MessageFlow(id="advice", source="bank", target="await-advice", message="payment-advice"),
    )
    people, machines = definitions.processes[0].lanes
    assert (people.members, people.lanes[0].members, machines.name) == (("check",), ("sign-off",), "Machines")


def test_data_and_groups_are_annotations() -> None:
    assert fixture("settlement").definitions.processes[0].body.annotations == (
        Annotation(id="ledger-ref", kind="data_object_reference", name="Ledger", reference="ledger"),
        Annotation(id="ledger", kind="data_object"),
        Annotation(id="books-ref", kind="data_store_reference", text="The books", reference="books"),
        Annotation(id="night", kind="group", text="Night", reference="night-value"),
    )


def test_the_contract_profile_gives_type_and_correlation_and_is_kept(settled: dict[str, Node]) -> None:
    pay = settled["pay"]
    assert isinstance(pay, Task)
    assert pay.type == "bank.pay"
    assert pay.extensions == (Extension("ameide:taskDefinition", {"type": "bank.pay", "policyRef": "careful"}),)
    message = fixture("settlement").definitions.messages[0]
    assert message.correlation == Value("orch_payment", "flag")
    assert [each.name for each in message.extensions] == ["ameide:subscription"]


@pytest.mark.parametrize(
    ("processes", "executable"),
    [
        ('<d:process id="a" />', ["a"]),
        ('<d:process id="a" isExecutable="false" />', []),
        ('<d:process id="a"><d:task id="t" /></d:process><d:process id="b" />', ["a"]),
        ('<d:process id="a"><d:task id="t" /></d:process><d:process id="b" isExecutable="true" />', ["b"]),
        ('<d:process id="a" isExecutable="1" /><d:process id="b" isExecutable="true" />', ["a", "b"]),
        ('<d:process id="a"><d:task id="t" /></d:process><d:process id="b" isExecutable="false" />', ["a"]),
    ],
)
def test_executable_is_what_says_so_or_else_what_holds_something(processes: str, executable: list[str]) -> None:
    definitions = read_model(OPENING + processes + CLOSING).definitions
    assert [process.id for process in definitions.executable()] == executable


@pytest.mark.parametrize(
    ("event", "trigger"),
    [
        ("<d:messageEventDefinition />", MessageTrigger("")),
        ("<d:signalEventDefinition />", SignalTrigger("")),
        ("<d:errorEventDefinition />", ErrorTrigger()),
        ("<d:escalationEventDefinition />", EscalationTrigger()),
        ("<d:timerEventDefinition />", TimerTrigger("duration", Value(""))),
        ("<d:compensateEventDefinition />", CompensationTrigger()),
        ("<d:linkEventDefinition />", LinkTrigger("")),
    ],
)
def test_an_unfinished_event_is_read_with_nothing_in_it(event: str, trigger: object) -> None:
    found = only(in_process(f'<d:startEvent id="e">{event}</d:startEvent>'))
    assert isinstance(found, Event)
    assert found.triggers == (trigger,)


def test_a_note_may_be_tied_to_what_has_no_meaning_here() -> None:
    text = in_process(
        '<d:ioSpecification><d:dataInput id="i" /></d:ioSpecification>'
        '<d:textAnnotation id="t"><d:text>x</d:text></d:textAnnotation>'
        '<d:association id="a" sourceRef="t" targetRef="i" />'
    )
    model = read_model(text)
    assert model.definitions.processes[0].body.associations[0].target == "i"
    assert read_model(write_model(model)).definitions == model.definitions


def test_an_unfinished_condition_is_foreign() -> None:
    found = only(in_process('<d:startEvent id="e"><d:conditionalEventDefinition /></d:startEvent>'))
    assert isinstance(found, Event)
    trigger = found.triggers[0]
    assert isinstance(trigger, ConditionalTrigger)
    assert isinstance(trigger.condition, Foreign)


@pytest.mark.parametrize(
    ("loop", "cardinality"),
    [
        ("<d:loopCardinality>5</d:loopCardinality>", Value("5")),
        ("<d:loopCardinality> =orch_n </d:loopCardinality>", Value("orch_n", "flag")),
        ("<d:loopCardinality>orch_n</d:loopCardinality>", Value("orch_n", "flag")),
        ("<d:loopCardinality>${orch_n}</d:loopCardinality>", Value("orch_n", "flag")),
        ("<d:loopCardinality>${n}</d:loopCardinality>", Value("${n}", "foreign")),
        ("<d:loopDataInputRef>items</d:loopDataInputRef>", Value("items", "foreign")),
        ("", Value("")),
        ("=for i in 1..orch_n return i", Value("orch_n", "flag")),
        ("= for k  in 1 .. 5 return k", Value("5")),
        ("=for i in 1..5 return j", Value("=for i in 1..5 return j", "foreign")),
        ("=for i in 0..5 return i", Value("=for i in 0..5 return i", "foreign")),
        ("=for i in 1..total return i", Value("=for i in 1..total return i", "foreign")),
        ("=items", Value("=items", "foreign")),
        ("=orch_items", Value("=orch_items", "foreign")),
    ],
)
def test_how_often_is_a_number_a_flag_or_foreign(loop: str, cardinality: Value) -> None:
    if not loop.startswith("<") and loop:
        loop = (
            '<d:extensionElements xmlns:z="http://camunda.org/schema/zeebe/1.0">'
            f'<z:loopCharacteristics inputCollection="{loop}" /></d:extensionElements>'
        )
    text = f'<d:task id="t"><d:multiInstanceLoopCharacteristics>{loop}</d:multiInstanceLoopCharacteristics></d:task>'
    found = only(in_process(text))
    assert isinstance(found, Task)
    assert found.repeat == MultiInstance(cardinality)


def test_cycles_of_flows_and_calls_of_oneself_are_models_like_others() -> None:
    text = (
        '<d:task id="a" /><d:task id="b" /><d:sequenceFlow id="f" sourceRef="a" targetRef="b" />'
        '<d:sequenceFlow id="g" sourceRef="b" targetRef="a" /><d:callActivity id="c" calledElement="p" />'
    )
    assert len(read_model(in_process(text)).definitions.processes[0].body.nodes) == 3


@pytest.mark.parametrize("language", ["", "feel", "https://www.omg.org/spec/DMN/20191111/FEEL/"])
def test_a_condition_in_feel_is_read(language: str) -> None:
    assert condition_in(language) == Compare("orch_x", "=", "a")


@pytest.mark.parametrize("language", ["javascript", "http://www.w3.org/1999/XPath"])
def test_a_condition_in_another_language_is_kept_as_it_is_and_not_read(language: str) -> None:
    found = condition_in(language)
    assert isinstance(found, Foreign)
    assert (found.text, found.language) == ('orch_x == "a"', language)
    assert f"it is written in '{language}'" in found.fact


def condition_in(language: str) -> Condition | None:
    """The condition of a flow, before and after it was written."""
    text = (
        '<d:task id="a" /><d:task id="b" /><d:sequenceFlow id="f" sourceRef="a" targetRef="b">'
        f'<d:conditionExpression language="{language}">orch_x == "a"</d:conditionExpression></d:sequenceFlow>'
    )
    model = read_model(in_process(text))
    assert read_model(write_model(model)).definitions == model.definitions
    return model.definitions.processes[0].body.flows[0].condition


@pytest.mark.parametrize(
    ("kind", "named"), [("service", "kyc.create"), ("send", "mail.send-it"), ("businessRule", "rate")]
)
def test_an_implementation_that_is_a_verb_is_the_type(kind: str, named: str) -> None:
    text = in_process(f'<d:{kind}Task id="a" startQuantity="2" implementation="{named}"/>')
    found = only(text)
    assert isinstance(found, Task)
    assert (found.type, found.extensions) == (named, (Extension("attributes", {"startQuantity": "2"}),))
    assert only(write_model(read_model(text))) == found
    plain = only(in_process(f'<d:{kind}Task id="a" implementation="{named}"/>'))
    assert plain.extensions == ()


@pytest.mark.parametrize(
    ("task", "named"),
    [("serviceTask", "http://a.b/c"), ("serviceTask", "urn:a.b"), ("serviceTask", "##Mine"), ("serviceTask", "Do It"),
     ("userTask", "kyc.create"), ("receiveTask", "kyc.create"), ("scriptTask", "kyc.create")],
)  # fmt: skip
def test_another_implementation_is_kept_for_lint_to_refuse(task: str, named: str) -> None:
    found = only(in_process(f'<d:{task} id="a" implementation="{named}"/>'))
    assert isinstance(found, Task)
    assert (found.type, found.extensions) == ("", (Extension("attributes", {"implementation": named}),))


def test_a_task_definition_counts_before_an_implementation() -> None:
    work = '<z:taskDefinition xmlns:z="http://camunda.org/schema/zeebe/1.0" type="a.b"/>'
    inside = f"<d:extensionElements>{work}</d:extensionElements>"
    found = only(in_process(f'<d:serviceTask id="a" implementation="c.d">{inside}</d:serviceTask>'))
    assert isinstance(found, Task)
    assert (found.type, found.extensions) == ("a.b", (Extension("attributes", {"implementation": "c.d"}),))


LANES = (
    '<d:laneSet id="set"><d:lane id="l1"><d:flowNodeRef>a</d:flowNodeRef><d:flowNodeRef>o</d:flowNodeRef>'
    '<d:childLaneSet id="inner"><d:lane id="l2"><d:flowNodeRef>a</d:flowNodeRef></d:lane></d:childLaneSet></d:lane>'
    '<d:lane id="l3">{0}</d:lane></d:laneSet>{1}<d:task id="a" /><d:dataObject id="o" />'
)


def test_data_in_a_lane_is_passed_over_and_a_node_in_two_lanes_remarked() -> None:
    twice = "<d:flowNodeRef>a</d:flowNodeRef>"
    model = read_model(in_process(LANES.format(twice, "")))
    assert [(each.code, each.element) for each in model.remarks] == [("BPM009", "l1"), ("BPM015", "l3")]
    assert "'a' stands in this lane and in 'l2'" in model.remarks[1].fact
    first = model.definitions.processes[0].lanes[0]
    assert (first.members, first.lanes[0].members) == (("a",), ("a",))
    other_set = f'<d:laneSet id="other"><d:lane id="l4">{twice}</d:lane></d:laneSet>'
    assert [each.code for each in read_model(in_process(LANES.format("", other_set))).remarks] == ["BPM009"]


@pytest.mark.parametrize("is_executable", ["true", "false"])
def test_a_node_of_another_process_in_a_lane_is_remarked_and_stays_listed(is_executable: str) -> None:
    lanes = (
        '<d:laneSet id="set"><d:lane id="l1"><d:childLaneSet id="inner"><d:lane id="l2">'
        "<d:flowNodeRef>a</d:flowNodeRef><d:flowNodeRef>o</d:flowNodeRef><d:flowNodeRef>b</d:flowNodeRef>"
        "</d:lane></d:childLaneSet></d:lane></d:laneSet>"
        '<d:task id="a" /><d:subProcess id="s"><d:task id="b" /></d:subProcess>'
    )
    other = f'<d:process id="other" isExecutable="{is_executable}"><d:task id="o" /></d:process>'
    model = read_model(in_process(lanes, other))
    assert [(each.code, each.element) for each in model.remarks] == [("BPM010", "l2")]
    assert "'o', which stands in another process" in model.remarks[0].fact
    assert model.definitions.processes[0].lanes[0].lanes[0].members == ("a", "o", "b")
    assert [each.severity for each in lint(model, profile="open") if each.code == "BPM010"] == ["warning"]


def test_a_gateway_whose_flows_go_against_its_direction_is_remarked() -> None:
    flows = "".join(
        f'<d:sequenceFlow id="{a}{b}" sourceRef="{a}" targetRef="{b}" />' for a, b in ("ga", "gb", "ah", "bh")
    )
    text = (
        '<d:task id="a" /><d:task id="b" /><d:parallelGateway id="g" gatewayDirection="{0}" />'
        '<d:parallelGateway id="h" gatewayDirection="{1}" />'
    )
    model = read_model(in_process(text.format("Converging", "Diverging") + flows))
    assert [(each.code, each.element) for each in model.remarks] == [("BPM014", "g"), ("BPM014", "h")]
    assert "2 flows leave it" in model.remarks[0].fact
    assert not read_model(in_process(text.format("Diverging", "Converging") + flows)).remarks
