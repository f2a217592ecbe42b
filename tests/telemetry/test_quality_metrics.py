"""Metrics of quality: tasks within their time, compensation, reliability, and what agents cost."""

from __future__ import annotations

from typing import Any

import pytest

from perdure import Agent, Call
from perdure.bpmn import model as m
from perdure.testing.sandbox import Sandbox
from perdure.verbs import load_text
from tests.engines.embedded.process_models import line, service, user
from tests.telemetry.test_metrics import scraped

VERBS = """
- name: ubo.judge
  description: Say whether an entity is well owned
  output_schema: {properties: {verdict: {type: string}}}
  execution:
    kind: sync
    agent: {prices: {judge-1: {input: "2", output: "10"}}}
- name: ubo.look
  description: Look at an entity
  execution: {kind: durable, task: {title: Look, groups: [compliance], due: PT1H}}
"""
LOOKED = line("looked", service("judge", "ubo.judge"), user("look", due=m.Value("PT1H")))
MONEY = {"work": "looked", "version": "1"}


class Dear(Agent):
    """Uses a million tokens."""

    async def decide(self, call: Call) -> dict[str, Any]:
        call.used("judge-1", input_tokens=1_000_000, output_tokens=0)
        return {"verdict": "good"}


@pytest.mark.req("O16")
async def test_tasks_in_time_reliability_and_cost_are_counted(store_url: str) -> None:
    handlers = {"ubo.judge": Dear()}
    async with Sandbox.open(store_url, definitions=load_text(VERBS), handlers=handlers) as sandbox:
        sandbox.runtime.measure()
        await sandbox.processes.deploy(LOOKED, profile="open")
        for delay in ("PT1M", "PT2H"):
            await sandbox.instances.start("looked", {})
            call = await sandbox.call("ubo.look", {})
            await sandbox.run_until_idle()
            await sandbox.advance(delay)
            rita = sandbox.acting(principal="rita", groups=["compliance"])
            for task in await rita.tasks.list():
                await rita.tasks.complete(task.key, {})
            await sandbox.run_until_idle()
            assert (await sandbox.status(call.id)).state == "completed"
        await sandbox.call("ubo.judge", {})
        counted = await scraped(sandbox)
        assert counted("perdure_human_tasks_ended_total", outcome="in_time") == 2
        assert counted("perdure_human_tasks_ended_total", outcome="late") == 2
        assert counted("perdure_instances_ended_total", process="looked", status="completed") == 2
        assert counted("perdure_agent_cost_total", **MONEY) == 4
        assert counted("perdure_agent_tokens_total", **MONEY) == 2_000_000
        assert counted("perdure_agent_cost_total", work="ubo.judge", version="1") == 2
