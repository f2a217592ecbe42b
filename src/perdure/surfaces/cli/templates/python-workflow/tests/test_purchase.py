"""A purchase on virtual time: a day passes when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from perdure import load_config
from perdure.orchestration import WorkflowEngine
from perdure.testing import Sandbox

PROJECT = Path(__file__).parents[1] / "perdure.yaml"
Story = Callable[[Sandbox, WorkflowEngine], Awaitable[None]]


def play(story: Story) -> None:
    """Tell a story in a store that is gone afterwards."""

    async def told() -> None:
        async with Sandbox.from_config(load_config(PROJECT), url="sqlite://") as sandbox:
            await story(sandbox, WorkflowEngine(perdure=sandbox))

    asyncio.run(told())


def test_a_small_purchase_is_shipped_at_once() -> None:
    async def story(sandbox: Sandbox, engine: WorkflowEngine) -> None:
        instance = await engine.start_workflow("purchase", variables={"amount": 20})
        await sandbox.run_until_idle()
        assert await instance.state() == "completed"
        assert await instance.get_variable("shipped") is True

    play(story)


def test_a_risky_purchase_waits_for_ada() -> None:
    async def story(sandbox: Sandbox, engine: WorkflowEngine) -> None:
        instance = await engine.start_workflow("purchase", variables={"amount": 5000})
        await sandbox.run_until_idle()
        (task,) = await instance.tasks()
        assert task.body == "5000, risk high"
        await engine.complete_task(task.key, by="ada", approved=True)
        await sandbox.run_until_idle()
        assert await instance.get_variable("order") == "O-5000"

    play(story)


def test_nobody_answers_for_a_day() -> None:
    async def story(sandbox: Sandbox, engine: WorkflowEngine) -> None:
        instance = await engine.start_workflow("purchase", variables={"amount": 5000})
        await sandbox.advance("P1D")
        assert await instance.state() == "completed"
        assert await instance.get_variable("order") is None

    play(story)


def test_what_cannot_be_shipped_is_cancelled() -> None:
    async def story(sandbox: Sandbox, engine: WorkflowEngine) -> None:
        instance = await engine.start_workflow("purchase", variables={"amount": 666})
        await sandbox.run_until_idle()
        assert await instance.state() == "compensated"
        assert await instance.get_variable("order") is None

    play(story)
