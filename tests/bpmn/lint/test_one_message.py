"""One fault is told once: at the element where it is mended, and in words that fit."""

from __future__ import annotations

import pytest

from perdure.bpmn.lint.lint import lint
from perdure.bpmn.xml import read_model
from tests.bpmn.xml.fixtures import in_process

ZEEBE = 'xmlns:z="http://camunda.org/schema/zeebe/1.0"'
VERB = f'<d:extensionElements {ZEEBE}><z:taskDefinition type="order.do" /></d:extensionElements>'
LISTENER = VERB.replace(
    "</d:", '<z:executionListeners><z:executionListener type="l" /></z:executionListeners></d:'
)  # fmt: skip
COMPENSATION = "<d:compensateEventDefinition />"


def flow(source: str, target: str) -> str:
    return f'<d:sequenceFlow id="{source}_{target}" sourceRef="{source}" targetRef="{target}" />'


def task(id: str, attributes: str = "", inside: str = "") -> str:
    return f'<d:serviceTask id="{id}" name="{id}" {attributes}>{VERB}{inside}</d:serviceTask>'


ENDS = '<d:startEvent id="s" name="s" /><d:endEvent id="e" name="e" />'
LINE = ENDS + task("a") + flow("s", "a") + flow("a", "e")
END_2 = '<d:endEvent id="f" name="f" />'


def empty(kind: str, inside: str = "", attributes: str = "") -> str:
    return f"{ENDS}<d:{kind} id='x' name='x' {attributes}>{inside}</d:{kind}>{flow('s', 'x')}{flow('x', 'e')}"


@pytest.mark.parametrize(
    ("content", "code", "element", "fact"),
    [
        (task("a") + END_2 + flow("a", "f"), "BPM104", "p", "it has no start event"),
        (
            f'{LINE}<d:subProcess id="u" name="u" triggeredByEvent="true">{task("b")}{END_2}{flow("b", "f")}'
            "</d:subProcess>",
            "BPM120", "u", "0 start events",
        ),
        (f'{LINE}<d:subProcess id="u" name="u" triggeredByEvent="true" />', "BPM106", "u", "it holds no elements"),
        (LINE + task("b") + task("c") + flow("b", "c") + flow("c", "e"), "BPM108", "b", "nothing leads to it"),
        (LINE + task("b") + task("c") + flow("b", "c") + flow("c", "b"), "BPM110", "b", "no path from a start"),
        (
            f'{LINE}<d:boundaryEvent id="b" name="b" attachedToRef="a"><d:timerEventDefinition><d:timeDuration>PT1H'
            "</d:timeDuration></d:timerEventDefinition></d:boundaryEvent>",
            "BPM107", "b", "no flow leaves it",
        ),
        (
            f'{LINE}<d:boundaryEvent id="b" attachedToRef="a">{COMPENSATION}</d:boundaryEvent>{task("u")}'
            '<d:association id="j" sourceRef="b" targetRef="u" />',
            "BPM146", "u", "it undoes work and is not marked for compensation",
        ),
        (empty("serviceTask", LISTENER), "HOL009", "x", "zeebe:executionListener)"),
        (empty("sendTask"), "BPM145", "x", "it names neither a verb nor a message"),
        (empty("callActivity", "", 'calledElement="=orch_x"'), "HOL003", "x", "is an expression"),
        (
            ENDS + task("x", "", "<d:multiInstanceLoopCharacteristics />") + flow("s", "x") + flow("x", "e"),
            "BPM157", "x", "it does not say how often it repeats",
        ),
        (
            empty("intermediateCatchEvent", "<d:conditionalEventDefinition />"),
            "HOL002", "x", "outside the grammar: it is empty",
        ),
    ],
)  # fmt: skip
def test_a_fault_is_told_once(content: str, code: str, element: str, fact: str) -> None:
    (finding,) = [each for each in lint(read_model(in_process(content)), profile="open") if each.severity == "error"]
    assert (finding.code, finding.element) == (code, element)
    assert fact in finding.fact
    assert "``" not in finding.fact


UNDO = f'<d:boundaryEvent id="b" attachedToRef="a">{COMPENSATION}</d:boundaryEvent>'
HANDLER = task("h", 'isForCompensation="true"')
MISSPELT = VERB.replace("</d:", '<z:executionListeners><z:executionListner type="l" /></z:executionListeners></d:')
CALL = '<d:callActivity id="c" name="c" calledElement="p">{}</d:callActivity>'


def join(number: int, target: str) -> str:
    return f'<d:association id="j{number}" sourceRef="b" targetRef="{target}" />'


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            f'{LINE}{UNDO}{HANDLER}{join(1, "h")}<d:intermediateThrowEvent id="u" name="u" />{join(2, "u")}',
            [("BPM107", "u")],
        ),
        (empty("serviceTask", MISSPELT), [("HOL009", "x")]),
        (
            f"{LINE}{UNDO}{HANDLER}{task('i', 'isForCompensation=' + chr(34) + 'true' + chr(34))}"
            f"{join(1, 'h')}{join(2, 'i')}{END_2}{flow('b', 'f')}",
            [("BPM146", "b"), ("BPM146", "b")],
        ),
        (f"{LINE}{UNDO}{task('u')}{join(1, 'u')}{END_2}{flow('u', 'f')}", [("BPM108", "u"), ("BPM146", "u")]),
    ],
    ids=["an event is no handler", "a listener by another name", "two handlers and a flow", "a handler in the flow"],
)
def test_no_fault_hides_another(content: str, told: list[tuple[str, str]]) -> None:
    found = [each for each in lint(read_model(in_process(content)), profile="open") if each.severity == "error"]
    assert sorted((each.code, each.element) for each in found) == told


@pytest.mark.parametrize(
    ("call", "is_endless"),
    [
        (CALL.format(""), True),
        (
            CALL.format(
                "<d:multiInstanceLoopCharacteristics><d:loopCardinality>=orch_n</d:loopCardinality>"
                "</d:multiInstanceLoopCharacteristics>"
            ),
            False,
        ),
        (CALL.format('<d:standardLoopCharacteristics testBefore="true" loopMaximum="2" />'), False),
    ],
)
def test_a_call_that_may_be_made_not_once_ends_a_recursion(call: str, is_endless: bool) -> None:
    found = lint(read_model(in_process(ENDS + call + flow("s", "c") + flow("c", "e"))), profile="open")
    assert ("BPM173" in [each.code for each in found]) == is_endless


def test_an_extension_of_another_tool_is_told_once_with_all_that_is_in_it() -> None:
    inside = '<o:look xmlns:o="urn:o"><o:colours><o:colour name="blue" /></o:colours></o:look>'
    content = LINE.replace("</d:ext", f"{inside}</d:ext", 1)
    told = [each.fact for each in lint(read_model(in_process(content))) if each.code == "HOL021"]
    assert told == ["its extension {urn:o}look has no effect here"]
