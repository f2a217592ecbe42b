"""Workflows that call workflows: variables go and come back, a tree is suspended and shown, forms keep the call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from perdure.bpmn.xml import read_model
from perdure.errors import DefinitionError
from perdure.orchestration import (
    CallActivity,
    ExclusiveGateway,
    ScriptTask,
    ServiceTask,
    Timer,
    UserTask,
    Workflow,
    WorkflowContext,
    WorkflowEngine,
)
from perdure.testing import Sandbox
from perdure.workflows.bpmn_reader import workflow_of
from perdure.workflows.conversion import convert
from perdure.workflows.names import kept
from perdure.workflows.yaml_reader import read_workflow
from tests.acceptance.commands import Shell


def rated(context: WorkflowContext) -> str:
    return "bad" if context["amount"] > 500 else "good"


def paid(context: WorkflowContext) -> bool:
    return True


def taken_back(context: WorkflowContext) -> None:
    context.set_variable("taken_back", True)


def failing(inputs: dict[str, Any]) -> dict[str, Any]:
    raise RuntimeError("no bureau answers")


def check_credit() -> Workflow:
    """Reads a variable of whoever calls it in a condition, asks a person when it is much, and sets another one."""
    workflow = Workflow("check_credit", variables={"amount": {"type": "integer", "required": True}})
    much = ExclusiveGateway("much", {"ask": "amount > 100"}, "rate")
    ask = UserTask("ask", title="Is the client good for it?", assignee="ada")
    rate = ScriptTask("rate", rated, "rating")
    workflow.start().then(much).route("ask", ask, rate).route("rate", rate).end()
    return workflow


def order(version: str = "1.0") -> Workflow:
    workflow = Workflow("order", version, variables={"amount": {"type": "integer", "required": True}})
    check = CallActivity("check", workflow="check_credit", output_variables=["rating"], name="Check the client")
    good = ExclusiveGateway("good", {"pay": "rating == 'good'"}, "refuse")
    pay = ScriptTask("pay", paid, "paid")
    workflow.start().then(check).then(good).route("pay", pay).route("refuse").end()
    return workflow


@asynccontextmanager
async def running(url: str, *workflows: Workflow) -> AsyncIterator[tuple[Sandbox, WorkflowEngine]]:
    async with Sandbox.open(url, workflows=workflows) as sandbox:
        yield sandbox, WorkflowEngine(perdure=sandbox)


@pytest.mark.req("O12")
@pytest.mark.parametrize(("amount", "is_paid"), [(50, True), (900, None)])
async def test_variables_go_to_a_called_workflow_and_conditions_read_what_comes_back(
    store_url: str, amount: int, is_paid: bool | None
) -> None:
    async with running(store_url, order(), check_credit()) as (sandbox, engine):
        instance = await engine.start_workflow("order", variables={"amount": amount})
        await sandbox.run_until_idle()
        if amount > 100:
            (task,) = await engine.tasks()
            assert task.process == "check_credit"
            await engine.complete_task(task.key, by="ada", approved=True)
            await sandbox.run_until_idle()
        assert await instance.state() == "completed"
        assert await instance.get_variable("rating") == ("good" if amount == 50 else "bad")
        assert await instance.get_variable("paid") is is_paid
        (call, *_) = await instance.executions()
        child = await engine.instance(call.called)
        assert (call.kind, call.actor, call.state, await child.state()) == (
            "call_activity", "check_credit", "completed", "completed",
        )  # fmt: skip


@pytest.mark.req("O12")
async def test_a_tree_is_suspended_and_goes_on_and_each_names_the_other(store_url: str) -> None:
    async with running(store_url, check_credit(), order()) as (sandbox, engine):
        instance = await engine.start_workflow("order", variables={"amount": 900})
        await sandbox.run_until_idle()
        (token,) = (await instance.view()).tokens
        child = await engine.instance(token.called)
        assert (await child.view()).parent == f"node:{instance.instance_id}:{token.number}"
        await sandbox.instances.suspend(instance.instance_id, "audit")
        await sandbox.run_until_idle()
        assert [await each.state() for each in (instance, child)] == ["suspended", "suspended"]
        await sandbox.instances.resume(instance.instance_id)
        await sandbox.run_until_idle()
        assert [await each.state() for each in (instance, child)] == ["active", "active"]
        (task,) = await engine.tasks()
        await engine.complete_task(task.key, by="ada", approved=True)
        await sandbox.run_until_idle()
        assert [await each.state() for each in (instance, child)] == ["completed", "completed"]


async def test_a_timer_at_the_edge_ends_the_called_workflow() -> None:
    late = Workflow("late", variables={"amount": "integer"})
    late.start().then(CallActivity("check", "check_credit")).end()
    give_up = ScriptTask("give_up", paid, "gave")
    late.add_boundary_event("check", Timer("too_late", duration=timedelta(days=1)), then=give_up)
    async with running("sqlite://", late, check_credit()) as (sandbox, engine):
        instance = await engine.start_workflow("late", variables={"amount": 900})
        await sandbox.run_until_idle()
        (token,) = (await instance.view()).tokens
        await sandbox.advance("P1D")
        assert (await instance.state(), await instance.get_variable("gave")) == ("completed", True)
        assert await (await engine.instance(token.called)).state() == "cancelled"
        assert [each.state for each in await instance.executions()] == ["cancelled", "completed"]


async def test_a_called_workflow_that_was_undone_undoes_its_caller() -> None:
    inner = Workflow("inner")
    undo = ServiceTask("first", function=lambda inputs: {}, compensation=taken_back)
    inner.start().then(undo).then(ServiceTask("second", function=failing)).end()
    outer = Workflow("outer")
    before = ServiceTask("before", function=lambda inputs: {}, compensation=taken_back)
    outer.start().then(before).then(CallActivity("call", "inner")).end()
    async with running("sqlite://", outer, inner) as (sandbox, engine):
        instance = await engine.start_workflow("outer")
        await sandbox.run_until_idle()
        call = next(each for each in await instance.executions() if each.kind == "call_activity")
        assert await (await engine.instance(call.called)).state() == "compensated"
        assert await instance.state() == "compensated"
        assert await instance.get_variable("taken_back") is True


@pytest.mark.req("O12", "O2")
def test_the_three_forms_keep_the_call_under_one_hash() -> None:
    workflow = order()
    yaml, bpmn = convert(workflow, "yaml"), convert(workflow, "bpmn")
    assert (yaml.losses, bpmn.losses) == ([], [])
    assert "workflow: check_credit" in yaml.text
    again = read_workflow(yaml.text, "order.yaml", kept)
    drawn = workflow_of(read_model(bpmn.text.encode(), "order.bpmn"))
    assert {workflow.content_hash(), again.content_hash(), drawn.content_hash()} == {workflow.content_hash()}
    assert "CallActivity(" in convert(drawn, "python").text


def test_a_call_of_no_workflow_is_refused_where_it_was_written() -> None:
    with pytest.raises(DefinitionError, match=r"test_called_workflows\.py:\d+.*no id of a workflow"):
        CallActivity("check", workflow="check credit")


async def test_a_call_of_an_unknown_workflow_is_refused_when_it_is_deployed() -> None:
    lonely = Workflow("lonely")
    lonely.start().then(CallActivity("check", "check_credti")).end()
    with pytest.raises(DefinitionError, match="check_credti"):
        async with running("sqlite://", lonely, check_credit()):
            pass


@pytest.mark.req("O12")
def test_the_command_line_names_both_sides_of_a_call(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    (tmp_path / "perdure.yaml").write_text("store: sqlite:///here.db\nworkflows: [flows]\n")
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "order.yaml").write_text(
        """
workflow:
  id: order
  variables: {amount: {type: integer, required: true}}
  tasks:
    - {id: check, type: call_activity, workflow: ask_somebody}
  flow: [start → check → end]
"""
    )
    (tmp_path / "flows" / "ask.yaml").write_text(
        """
workflow:
  id: ask_somebody
  tasks:
    - {id: ask, type: user_task, title: May we?}
  flow: [start → ask → end]
"""
    )
    shell.run("call", "order", "amount=5")
    (parent,) = shell.json("instances", "list", "--process", "order")
    (child,) = shell.json("instances", "list", "--process", "ask_somebody")
    assert child["id"] in shell.run("instances", "show", parent["id"]).out
    assert parent["id"] in shell.run("instances", "show", child["id"]).out
    (call,) = shell.json("workflows", "executions", parent["id"])
    assert (call["kind"], call["called"], call["state"]) == ("call_activity", child["id"], "active")
