"""The builder: the same process however it is written, and every mistake with its file and line."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from perdure.app.processes.contracts import contract_of
from perdure.app.processes.proof import prove_model
from perdure.bpmn.content_hash import content_hash
from perdure.bpmn.lint.lint import lint
from perdure.bpmn.model import Event, Gateway, Task, TimerTrigger, nodes
from perdure.bpmn.xml import read_model
from perdure.errors import DefinitionError
from perdure.verbs import Catalogue
from perdure.workflows import (
    CompensationHandler,
    EventBasedGateway,
    ExclusiveGateway,
    InclusiveGateway,
    MessageEvent,
    ParallelGateway,
    ScriptTask,
    ServiceTask,
    SignalEvent,
    Timer,
    TimerEvent,
    UserTask,
    Workflow,
    WorkflowTransaction,
)
from tests.workflows.samples import Reviewer, is_high, review, validate_task


def step(id: str, **more: Any) -> ServiceTask:
    return ServiceTask(id, function=lambda inputs: {}, **more)


def by_text(chained: bool) -> Workflow:
    """One process, written as a chain and by edges."""
    workflow = Workflow("gate", variables={"number": {"type": "integer", "required": True}})
    choice = ExclusiveGateway(
        "check", {"deploy": "approved == true and risk == 'low'", "report": "approved == false"}, "people"
    )  # fmt: skip
    tasks = validate_task(), UserTask("people", title="Decide"), step("deploy"), step("report")
    if chained:
        workflow.start().then(tasks[0]).then(choice).route("deploy", tasks[2]).route("report", tasks[3]).route(
            "people", tasks[1], "deploy"
        ).end()
        return workflow
    for node in (tasks[0], choice, tasks[2], tasks[3], tasks[1]):
        workflow.add_node(node)
    workflow.add_edge("report", "end")
    workflow.add_edge("start", "validate")
    workflow.add_edge("validate", "check")
    workflow.add_conditional_edge("check", "people", "people")
    workflow.add_conditional_edge("check", "report", "report")
    workflow.add_conditional_edge("check", "deploy", "deploy")
    workflow.add_edge("people", "deploy")
    workflow.add_edge("deploy", "end")
    return workflow


@pytest.mark.req("O1")
def test_a_process_written_as_a_chain_by_edges_or_in_bpmn_has_one_hash() -> None:
    chain, edges = by_text(chained=True), by_text(chained=False)
    assert chain.content_hash() == edges.content_hash()
    read = read_model(chain.to_bpmn())
    assert content_hash(read.definitions, "gate") == chain.content_hash()
    assert read.diagram is not None
    drawn = {shape.element for shape in read.diagram.shapes}
    assert {node.id for node in nodes(read.definitions.processes[0].body)} <= drawn


@pytest.mark.req("O1")
@pytest.mark.parametrize("make", [review, lambda: by_text(chained=True)])
def test_a_workflow_is_linted_and_proved_like_any_process(make: Callable[[], Workflow]) -> None:
    compiled = make().compile()
    contract = contract_of(Catalogue(compiled.verbs), compiled.id)
    found = lint(compiled.model, profile="hollow", target="embedded", contract=contract, others=set())
    assert [each for each in found if each.severity == "error"] == []
    assert prove_model(compiled.model, compiled.id, contract).word == "proved"


@pytest.mark.req("O1")
def test_functions_on_a_gateway_become_a_verb_that_sets_a_flag_and_the_model_stays_hollow() -> None:
    compiled = review().compile()
    by_id = {node.id: node for node in nodes(compiled.model.definitions.processes[0].body)}
    decide = by_id["check_decide"]
    assert isinstance(decide, Task)
    assert decide.type == "review.check_decide"
    verb = next(each for each in compiled.verbs if each.name == "review.check_decide")
    assert verb.contract is not None
    assert verb.contract.writes_flags == ("orch_check_route",)
    assert verb.metadata["source"].startswith("sha256:")
    flag = next(each for each in compiled.carrier.execution.flags if each.name == "orch_check_route")
    assert flag.values == ("people", "deploy", "report")


@pytest.mark.req("O1")
def test_a_changed_function_is_another_verb_and_the_same_model() -> None:
    def of(condition: Callable[..., Any]) -> Workflow:
        workflow = Workflow("w")
        workflow.start().then(ExclusiveGateway("g", {"yes": condition}, "no")).route("yes", step("a")).route("no").end()
        return workflow

    one, other = of(is_high), of(lambda context: context["approved"])
    assert hash_of(one, "w.g_decide") != hash_of(other, "w.g_decide")
    assert hash_of(one, "w.g_decide") == hash_of(of(is_high), "w.g_decide")


def hash_of(workflow: Workflow, verb: str) -> str:
    return next(each.content_hash for each in workflow.compile().verbs if each.name == verb)


@pytest.mark.req("O6")
def test_every_gateway_has_its_notation() -> None:
    workflow = Workflow("all", variables={"a": "boolean", "key": "string"})
    race = EventBasedGateway(
        "race", {"paid": MessageEvent("paid", correlation="key"), "late": Timer("late", duration=timedelta(days=1)),
                 "stop": SignalEvent("stop")}
    )  # fmt: skip
    some = InclusiveGateway("some", {"one": "a == true", "two": lambda ctx: True}, "other")
    meet = InclusiveGateway("meet", mode="join")
    flow = workflow.start().then(some).route("one", step("one")).route("two", step("two")).route("other").then(meet)
    flow.parallel([step("left"), [step("right"), step("further")]]).then(race).route("paid", step("thank")).route(
        "late", step("remind")
    ).route("stop").end()
    found = {node.id: node for node in nodes(workflow.to_model().definitions.processes[0].body)}
    kinds = {id: node.kind for id, node in found.items() if isinstance(node, Gateway)}
    assert kinds == {
        "some": "inclusive", "meet": "inclusive", "meet_fork": "parallel", "meet_fork_join": "parallel",
        "race": "event",
    }  # fmt: skip
    assert isinstance(found["paid"], Event)
    contract = contract_of(Catalogue(workflow.compile().verbs), "all")
    assert prove_model(workflow.to_model(), "all", contract).word == "proved"


@pytest.mark.req("O7")
@pytest.mark.parametrize(
    ("event", "kind", "text"),
    [
        (TimerEvent("t", "duration", timedelta(days=7)), "duration", "P7D"),
        (TimerEvent("t", "duration", timedelta(hours=1, seconds=1.5)), "duration", "PT1H1.5S"),
        (TimerEvent("t", "date", datetime(2030, 1, 31, 9, tzinfo=UTC)), "date", "2030-01-31T09:00:00+00:00"),
        (TimerEvent("t", "cycle", "0 9 * * *"), "cycle", "0 9 * * *"),
        (Timer("t", cycle="R3/PT10M"), "cycle", "R3/PT10M"),
    ],
)
def test_timers_are_durations_dates_and_cycles(event: TimerEvent, kind: str, text: str) -> None:
    workflow = Workflow("timed")
    workflow.start_on_timer(event).then(step("report")).end()
    start = next(node for node in nodes(workflow.to_model().definitions.processes[0].body) if node.id == "t")
    assert isinstance(start, Event)
    (trigger,) = start.triggers
    assert isinstance(trigger, TimerTrigger)
    assert (trigger.kind, trigger.value.text, start.position) == (kind, text, "start")


async def sleeps() -> None: ...


def refused(make: Callable[[], Any]) -> str:
    """The first problem; it is in this file, where a node was made."""
    with pytest.raises(DefinitionError) as raised:
        make()
    problem = raised.value.problems[0]
    places = [range(first, first + len(lines)) for lines, first in map(inspect.getsourcelines, (make, step))]
    assert problem.file == __file__
    assert any(problem.line in place for place in places)
    return problem.sentence()


@pytest.mark.req("O6")
def test_a_coroutine_as_an_event_is_refused_with_the_event_to_write() -> None:
    def sleep() -> None:
        EventBasedGateway("wait", {"timeout": asyncio.sleep(3600)})  # type: ignore[dict-item]

    def other() -> None:
        EventBasedGateway("wait", {"approved": sleeps()})  # type: ignore[dict-item]

    def function() -> None:
        EventBasedGateway("wait", {"approved": sleeps})  # type: ignore[dict-item]

    assert "TimerEvent(id='timeout', timer_type='duration'" in refused(sleep)
    assert "MessageEvent(id='approved'" in refused(other)
    assert "MessageEvent(id='approved'" in refused(function)


def dead_end() -> None:
    workflow = Workflow("w")
    workflow.start().then(step("lost"))
    workflow.compile()


def unknown_edge() -> None:
    workflow = Workflow("w")
    workflow.start().then(step("a")).end()
    workflow.add_edge("a", "nowhere")
    workflow.compile()


def open_route() -> None:
    workflow = Workflow("w")
    workflow.start().then(ExclusiveGateway("g", {"yes": "a == 1", "no": "a == 2"})).route("yes", step("a")).end()
    workflow.compile()


def unknown_route() -> None:
    Workflow("w").start().then(ExclusiveGateway("g", {"yes": "a == 1"})).route("maybe", step("a"))


def outside_grammar() -> None:
    workflow = Workflow("w")
    workflow.start().then(ExclusiveGateway("g", {"yes": "len(a) > 1"}, "no")).route("yes", step("a")).route("no").end()
    workflow.compile()


def expression_in_body() -> None:
    workflow = Workflow("w")
    workflow.start().then(UserTask("u", title="Look", body_template='{"yes" if approved else "no"}')).end()
    workflow.compile()


def unknown_in_body() -> None:
    workflow = Workflow("w")
    workflow.start().then(UserTask("u", title="Look", body_template="{campaign}")).end()
    workflow.compile()


def two_of_one_id() -> None:
    Workflow("w").start().then(step("a")).then(step("a"))


def no_method() -> None:
    workflow = Workflow("w")
    workflow.start().then(ServiceTask("t", agent=Reviewer, method="publish")).end()
    workflow.compile()


def unstoppable() -> None:
    workflow = Workflow("w")
    workflow.start().then(step("a", timeout=timedelta(seconds=1))).end()
    workflow.compile()


def started_without_engine() -> None:
    Workflow("w").start(variables={"pr_number": 42})


def naive_date() -> None:
    TimerEvent("t", "date", datetime(2030, 1, 1))


def wrong_order() -> None:
    transaction = WorkflowTransaction()
    transaction.execute_task(step("a"), CompensationHandler("a", print, order=1))
    transaction.execute_task(step("b"), CompensationHandler("b", print, order=2))


def no_correlation() -> None:
    workflow = Workflow("w")
    workflow.start().then(MessageEvent("paid")).end()
    workflow.compile()


@pytest.mark.req("O1")
@pytest.mark.parametrize(
    ("make", "fact", "hint"),
    [
        (dead_end, "it leads nowhere", "add_edge('lost', 'end')"),
        (unknown_edge, "there is no node 'nowhere'", "Add it"),
        (open_route, "its route 'no' leads nowhere", ".route('no', …)"),
        (unknown_route, "has no route 'maybe'", "It has: yes."),
        (outside_grammar, "'len(a) > 1' is no condition", "or give a function"),
        (expression_in_body, "nothing is evaluated in a template", "{approved}"),
        (unknown_in_body, "names 'campaign'", "variables={'campaign': 'string'}"),
        (two_of_one_id, "there are two nodes 'a'", "another id"),
        (no_method, "'Reviewer' has no method 'publish'", "It has: validate, report."),
        (unstoppable, "is a plain function, which nothing can stop", "async def"),
        (started_without_engine, "is begun by an engine", "engine.start_workflow('w'"),
        (naive_date, "no time zone", "tzinfo=UTC"),
        (wrong_order, "its order is 2", "What completes last is undone first"),
        (no_correlation, "nothing says which instance", "correlation="),
    ],
)
def test_a_mistake_is_told_with_its_file_and_line_and_what_to_write(
    make: Callable[[], Any], fact: str, hint: str
) -> None:
    told = refused(make)
    assert fact in told
    assert hint in told


def test_all_mistakes_are_told_at_once() -> None:
    workflow = Workflow("w")
    workflow.start().then(UserTask("u", title="Look", body_template="{a} {b}"))
    with pytest.raises(DefinitionError) as raised:
        workflow.compile()
    assert len(raised.value.problems) == 3


def test_a_script_and_a_fork_without_a_gateway_are_compiled() -> None:
    workflow = Workflow("w")
    count = ScriptTask("count", script=lambda ctx: len(ctx["files"]), output_variable="many")
    workflow.start().then(count).then(ParallelGateway("f")).parallel([step("a"), step("b")]).then(
        ParallelGateway("j", mode="join")
    ).then(step("c")).end()
    flows = {(flow.source, flow.target) for flow in workflow.to_model().definitions.processes[0].body.flows}
    assert {("f", "a"), ("f", "b"), ("a", "j"), ("b", "j"), ("j", "c"), ("c", "end")} <= flows
