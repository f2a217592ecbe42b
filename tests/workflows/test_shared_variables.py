"""Variables of a workflow and global ones: versioned, authored, read by tasks, written by a verb."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.errors import CallFailedError
from perdure.orchestration import ServiceTask, Workflow, WorkflowContext, WorkflowEngine
from perdure.testing import Sandbox

pytestmark = pytest.mark.req("O3")


async def budget(context: WorkflowContext) -> dict[str, Any]:
    return {
        "budget": await context.get_shared("llm_budget"), "threshold": await context.get_shared("threshold", 5),
        "elsewhere": await context.get_shared("llm_budget", owner="global"),
    }  # fmt: skip


def asking() -> Workflow:
    workflow = Workflow("asking")
    workflow.start().then(
        ServiceTask("look", function=budget, output_variables=["budget", "threshold", "elsewhere"])
    ).end()
    return workflow


async def test_a_task_reads_those_of_its_workflow_before_global_ones(store_url: str) -> None:
    async with Sandbox.open(store_url, workflows=[asking()]) as sandbox:
        engine = WorkflowEngine(perdure=sandbox)
        await engine.set_variable("llm_budget", 100, actor="ops")
        first = await engine.start_workflow("asking")
        await sandbox.run_until_idle()
        assert (await first.get_variable("budget"), await first.get_variable("threshold")) == (100, 5)
        await engine.set_variable("llm_budget", 7, workflow_id="asking")
        await engine.set_variable("threshold", 9)
        second = await engine.start_workflow("asking")
        await sandbox.run_until_idle()
        told = [await second.get_variable(name) for name in ("budget", "threshold", "elsewhere")]
        assert told == [7, 9, 100]
        assert await engine.get_variable("unknown", "none") == "none"


async def test_each_change_is_a_version_with_its_author_and_a_late_one_is_refused(store_url: str) -> None:
    async with Sandbox.open(store_url, workflows=[asking()]) as sandbox:
        engine = WorkflowEngine(perdure=sandbox)
        assert await engine.set_variable("rate_limit", 10, actor="ana", version=0) == 1
        assert await engine.set_variable("rate_limit", 20, actor="bo", version=1) == 2
        with pytest.raises(CallFailedError, match="is at version 2, not 1"):
            await engine.set_variable("rate_limit", 30, actor="late", version=1)
        with pytest.raises(CallFailedError, match="of type integer, and string was given"):
            await engine.set_variable("rate_limit", "many")
        history = await engine.get_variable_history("rate_limit")
        assert [(each.version, each.value, each.updated_by, each.scope) for each in history] == [
            (1, 10, "ana", "global"), (2, 20, "bo", "global"),
        ]  # fmt: skip
        assert {each.created_by for each in history} == {"ana"}


async def test_one_tenant_does_not_see_those_of_another() -> None:
    async with Sandbox.open(workflows=[asking()]) as sandbox:
        await sandbox.result("workflow.set-variable", {"name": "llm_budget", "value": 1})
        other = sandbox.acting(tenant="other")
        with pytest.raises(CallFailedError, match="there is none"):
            await other.result("workflow.get-variable", {"name": "llm_budget"})
        found = await sandbox.result("workflow.get-variable", {"name": "llm_budget"})
        assert found["value"] == 1
