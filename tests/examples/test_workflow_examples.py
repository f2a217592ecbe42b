"""The examples with workflows run as they are shipped, from their `perdure.yaml`, on virtual time."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from perdure import load_config
from perdure.orchestration import WorkflowEngine, WorkflowInstance
from perdure.testing import Sandbox
from tests.conftest import ROOT

pytestmark = pytest.mark.req("O14")


@pytest.fixture(autouse=True)
def own_modules() -> Iterator[None]:
    """Each example has a package `workflows`: none of another test is used, and none is left."""
    before = list(sys.path)
    yield
    sys.path[:] = before
    for name in [each for each in sys.modules if each == "workflows" or each.startswith("workflows.")]:
        del sys.modules[name]


class Example:
    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox, self.engine = sandbox, WorkflowEngine(perdure=sandbox)

    async def start(self, workflow: str, **variables: Any) -> WorkflowInstance:
        instance = await self.engine.start_workflow(workflow, variables=variables)
        await self.sandbox.run_until_idle()
        return instance

    async def answer(self, instance: WorkflowInstance, by: str, **answer: Any) -> None:
        (task,) = await instance.tasks()
        await self.engine.complete_task(task.key, by=by, **answer)
        await self.sandbox.run_until_idle()


@asynccontextmanager
async def example(name: str, url: str) -> AsyncIterator[Example]:
    config = load_config(ROOT / "examples" / name / "perdure.yaml")
    async with Sandbox.from_config(config, url=url) as sandbox:
        yield Example(sandbox)


@pytest.mark.parametrize(
    ("files", "approved", "ends"),
    [
        (["app.py"], None, "deployment_url"),
        (["app.py", "deploy.yaml"], True, "deployment_url"),
        (["deploy.yaml"], False, "issue_number"),
        (["secrets.py"], None, "issue_number"),
    ],
)
async def test_a_pull_request_is_deployed_or_reported(
    store_url: str, files: list[str], approved: bool | None, ends: str
) -> None:
    async with example("pr-review", store_url) as run:
        instance = await run.start("pr_review", pr_number=42, author="ana", files_changed=files)
        if approved is not None:
            (task,) = await instance.tasks()
            assert "**PR**: #42 by ana, risk high" in task.body
            await run.answer(instance, "engineering-lead", approved=approved)
        assert await instance.state() == "completed"
        assert {name for name in ("deployment_url", "issue_number") if await instance.get_variable(name)} == {ends}


async def test_a_risky_pull_request_is_reported_when_no_architect_answers() -> None:
    async with example("pr-review", "sqlite://") as run:
        instance = await run.start("pr_review", pr_number=7, author="ana", files_changed=["main.tf"])
        await run.sandbox.advance("PT2H")
        assert await instance.get_variable("issue_number") == 10_007


@pytest.mark.parametrize(
    ("email", "outcome"),
    [("ana@example.org", "subscribed"), ("cleo@example.org", "offered"), ("bo@example.org", "lost")],
)
async def test_a_trial_ends_after_seven_days_by_what_the_customer_did(store_url: str, email: str, outcome: str) -> None:
    async with example("trial-onboarding", store_url) as run:
        instance = await run.start("customer_onboarding", email=email)
        await run.sandbox.advance("P6DT23H")
        assert await instance.state() == "active"
        await run.sandbox.advance("PT1H")
        assert (await instance.state(), await instance.get_variable("outcome")) == ("completed", outcome)


@pytest.mark.parametrize(("topic", "approved", "state"), [
    ("tulips", True, "completed"), ("tulips", False, "completed"), ("forbidden", True, "compensated"),
])  # fmt: skip
async def test_a_campaign_is_launched_or_taken_down_again(
    store_url: str, topic: str, approved: bool, state: str
) -> None:
    async with example("campaign", store_url) as run:
        instance = await run.start("campaign_creation", campaign_name="Spring", topic=topic)
        await run.answer(instance, "marketing-manager", approved=approved)
        assert await instance.state() == state
        launched = approved and state == "completed"
        assert await instance.get_variable("launched") == (True if launched else None)
        undone = [await instance.get_variable(name) for name in ("email_cancelled", "posts_deleted", "taken_down")]
        assert all(undone) == (state == "compensated")


@pytest.mark.parametrize("name", ["pr-review", "trial-onboarding", "campaign"])
async def test_calling_the_verb_of_a_workflow_begins_it(name: str) -> None:
    calls = {
        "pr-review": ("pr_review", {"pr_number": 1, "author": "ana", "files_changed": ["a.py"]}),
        "trial-onboarding": ("customer_onboarding", {"email": "ana@example.org"}),
        "campaign": ("campaign_creation", {"campaign_name": "Spring", "topic": "tulips"}),
    }
    async with example(name, "sqlite://") as run:
        call = await run.sandbox.call(*calls[name])
        await run.sandbox.run_until_idle()
        assert (await run.sandbox.status(call.id)).state in ("completed", "parked")
