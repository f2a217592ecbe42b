"""Who writes before whom and what happens at once, over loops, boundaries, links and event subprocesses."""

from __future__ import annotations

import msgspec
import pytest

from perdure.bpmn.conditions.parser import parse_condition
from perdure.bpmn.lint.contract import Contract, VerbContract
from perdure.bpmn.lint.lint import lint
from perdure.bpmn.model import (
    CompensationTrigger,
    Error,
    ErrorTrigger,
    Event,
    Flow,
    Gateway,
    LinkTrigger,
    Message,
    MessageTrigger,
    Model,
    MultiInstance,
    Node,
    Scope,
    SubProcess,
    Task,
    TimerTrigger,
    Value,
)
from perdure.verb_contract import FlagContract
from tests.bpmn.lint.model_builder import lead, model_of

FLAG = FlagContract("orch_ready", "boolean", writers=("order.write",))
VERBS = (VerbContract(name="order.write"), VerbContract(name="order.other"))
CONTRACT = Contract(
    verb="order.fulfil", process="order", sub_verbs=("order.write", "order.other"), flags=(FLAG,), verbs=VERBS
)
START, END = Event(id="start", name="S", position="start"), Event(id="end", name="E", position="end")


def write(id: str = "write") -> Task:
    return Task(id=id, name="Write", kind="service", type="order.write")


def other(id: str = "other") -> Task:
    return Task(id=id, name="Other", kind="service", type="order.other")


def choice(id: str = "choice") -> Gateway:
    return Gateway(id=id, name="Ready?", kind="exclusive", default="otherwise")


def choose(yes: str, no: str, id: str = "choice") -> tuple[Flow, ...]:
    condition = parse_condition("orch_ready = true")
    taken = Flow(id="taken", source=id, target=yes, condition=condition)
    return taken, Flow(id="otherwise", source=id, target=no)


def found(model: Model, contract: Contract = CONTRACT) -> set[str]:
    return {finding.code for finding in lint(model, contract=contract) if finding.code.startswith("CON")}


def message_model(*nodes: Node, flows: tuple[Flow, ...]) -> Model:
    model = model_of(*nodes, flows=flows)
    message = Message(id="m", name="order.paid", correlation=Value("orch_key", "flag"))
    return msgspec.structs.replace(model, definitions=msgspec.structs.replace(model.definitions, messages=(message,)))


def test_a_loop_brings_the_writing_before_the_reading() -> None:
    merge = Gateway(id="merge", kind="exclusive")
    flows = (*lead("start", "merge", "choice"), *choose("write", "end"), *lead("write", "merge"))
    assert found(model_of(START, merge, choice(), write(), END, flows=flows)) == set()


def test_a_writer_on_another_branch_only_does_not_come_before() -> None:
    split = Gateway(id="split", name="Which?", kind="exclusive", default="split_to_write")
    flows = (
        *lead("start", "split", "write", "end"),
        Flow(id="way", source="split", target="choice", condition=parse_condition("orch_ready = false")),
        *choose("other", "end"),
        *lead("other", "end"),
    )
    assert "CON102" in found(model_of(START, split, write(), choice(), other(), END, flows=flows))


def test_a_writer_inside_a_subprocess_comes_before_what_follows_it() -> None:
    inner = Scope(
        nodes=(Event(id="s", name="S", position="start"), write(), Event(id="e", name="E", position="end")),
        flows=lead("s", "write", "e"),
    )
    body = SubProcess(id="inner", name="Inner", body=inner)
    flows = (*lead("start", "inner", "choice"), *choose("other", "end"), *lead("other", "end"))
    assert found(model_of(START, body, choice(), other(), END, flows=flows)) == set()


def test_a_writer_inside_comes_before_the_boundary_path_but_not_before_the_inside_start() -> None:
    inner = Scope(
        nodes=(Event(id="s", name="S", position="start"), write(), Event(id="e", name="E", position="end")),
        flows=lead("s", "write", "e"),
    )
    late = Event(
        id="late", name="Late", position="boundary", attached_to="inner",
        triggers=(TimerTrigger("duration", Value("PT1H")),),
    )  # fmt: skip
    body = SubProcess(id="inner", name="Inner", body=inner)
    flows = (*lead("start", "inner", "end"), *lead("late", "choice"), *choose("other", "end"), *lead("other", "end"))
    assert found(model_of(START, body, late, choice(), other(), END, flows=flows)) == set()


def test_a_link_leads_on() -> None:
    go = Event(id="go", name="Go", position="throw", triggers=(LinkTrigger("there"),))
    come = Event(id="come", name="Come", position="catch", triggers=(LinkTrigger("there"),))
    flows = (*lead("start", "write", "go"), *lead("come", "choice"), *choose("other", "end"), *lead("other", "end"))
    assert found(model_of(START, write(), go, come, choice(), other(), END, flows=flows)) == set()


def test_an_event_subprocess_may_read_what_the_scope_wrote() -> None:
    triggered = Event(id="broken", name="Broken", position="start", triggers=(ErrorTrigger(""),))
    inner = Scope(
        nodes=(triggered, choice(), other(), Event(id="e", name="E", position="end")),
        flows=(*lead("broken", "choice"), *choose("other", "e"), *lead("other", "e")),
    )
    aside = SubProcess(id="aside", kind="event", body=inner)
    assert found(model_of(START, write(), END, aside, flows=lead("start", "write", "end"))) == set()


def test_a_compensation_handler_comes_after_what_it_undoes() -> None:
    undo = Event(id="undo", position="boundary", attached_to="write", triggers=(CompensationTrigger(),))
    flows = (*lead("start", "write", "choice"), *choose("other", "end"), *lead("other", "end"))
    assert "CON102" not in found(model_of(START, write(), undo, choice(), other(), END, flows=flows))


def test_branches_of_an_exclusive_gateway_do_not_run_at_once() -> None:
    merge = Gateway(id="merge", kind="exclusive")
    flows = (
        *lead("start", "first", "choice"), *choose("second", "third"), *lead("second", "merge", "end"),
        *lead("third", "merge"),
    )  # fmt: skip
    assert (
        found(model_of(START, write("first"), choice(), write("second"), write("third"), merge, END, flows=flows))
        == set()
    )


def test_what_follows_the_join_does_not_run_beside_the_branches() -> None:
    fork, join = Gateway(id="fork", kind="parallel"), Gateway(id="join", kind="parallel")
    flows = (
        *lead("start", "fork", "first", "join", "second", "choice"), *lead("fork", "other", "join"),
        *choose("third", "end"), *lead("third", "end"),
    )  # fmt: skip
    nodes = (START, fork, write("first"), other(), join, write("second"), choice(), other("third"), END)
    assert found(model_of(*nodes, flows=flows)) == set()


def test_the_path_of_an_event_that_does_not_interrupt_runs_beside_its_host() -> None:
    reminder = Event(
        id="reminder", name="Reminder", position="boundary", attached_to="first", is_interrupting=False,
        triggers=(TimerTrigger("duration", Value("PT1H")),),
    )  # fmt: skip
    flows = (
        *lead("start", "first", "choice"), *choose("other", "end"), *lead("other", "end"),
        *lead("reminder", "second", "over"),
    )  # fmt: skip
    over = Event(id="over", name="Over", position="end")
    model = model_of(START, write("first"), reminder, write("second"), over, choice(), other(), END, flows=flows)
    assert found(model) == {"CON107"}


@pytest.mark.parametrize(("is_sequential", "expected"), [(True, set()), (False, {"CON107"})])
def test_iterations_at_once_need_a_merge_rule(is_sequential: bool, expected: set[str]) -> None:
    repeated = Task(
        id="write", name="Write", kind="service", type="order.write",
        repeat=MultiInstance(Value("3"), is_sequential=is_sequential),
    )  # fmt: skip
    flows = (*lead("start", "write", "choice"), *choose("other", "end"), *lead("other", "end"))
    assert found(model_of(START, repeated, choice(), other(), END, flows=flows)) == expected


def test_a_boundary_wait_needs_its_key_before_its_host_opens() -> None:
    key = FlagContract("orch_key", "string", once=True, writers=("order.write",))
    contract = Contract(verb="order.fulfil", process="order", sub_verbs=("order.write",), flags=(key,), verbs=VERBS)
    paid = Event(id="paid", name="Paid", position="boundary", attached_to="write", triggers=(MessageTrigger("m"),))
    over = Event(id="over", name="Over", position="end")
    too_late = message_model(
        START, write(), paid, END, over, flows=(*lead("start", "write", "end"), *lead("paid", "over"))
    )
    assert "CON105" in found(too_late, contract)
    on_next = Event(id="paid", name="Paid", position="boundary", attached_to="ask", triggers=(MessageTrigger("m"),))
    ask = Task(id="ask", name="Ask", kind="user")
    flows = (*lead("start", "write", "ask", "end"), *lead("paid", "over"))
    assert found(message_model(START, write(), ask, on_next, END, over, flows=flows), contract) == set()


def test_an_error_raised_inside_a_subprocess_may_be_caught_around_it() -> None:
    failing = Event(id="failed", name="Failed", position="end", triggers=(ErrorTrigger("err"),))
    inner = Scope(nodes=(Event(id="s", name="S", position="start"), failing), flows=lead("s", "failed"))
    caught = Event(
        id="caught", name="Caught", position="boundary", attached_to="inner", triggers=(ErrorTrigger("err"),)
    )
    body = SubProcess(id="inner", name="Inner", body=inner)
    flows = (*lead("start", "inner", "end"), *lead("caught", "end"))
    model = model_of(START, body, caught, END, flows=flows)
    definitions = msgspec.structs.replace(model.definitions, errors=(Error(id="err", name="Late", code="LATE"),))
    contract = Contract(verb="order.fulfil", process="order")
    assert found(msgspec.structs.replace(model, definitions=definitions), contract) == set()


@pytest.mark.parametrize(("text", "codes"), [("orch_key", {"CON104"}), ("case-7", set())])
def test_the_name_of_a_flag_without_an_equals_sign_is_no_key(text: str, codes: set[str]) -> None:
    wait = Event(id="wait", name="Wait", position="catch", triggers=(MessageTrigger("paid"),))
    model = model_of(START, wait, END, flows=lead("start", "wait", "end"))
    message = Message(id="paid", name="paid", correlation=Value(text))
    definitions = msgspec.structs.replace(model.definitions, messages=(message,))
    assert found(msgspec.structs.replace(model, definitions=definitions)) & {"CON104"} == codes
