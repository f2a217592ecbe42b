"""The process stops at every commit of work whose agent runs out of its budget, or asks a person: on both stores."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

from perdure import Agent, Call
from perdure.testing.fault_injection import Crash, FaultyDriver, Side
from perdure.testing.sandbox import Sandbox, quiet_driver
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import load_text
from tests.crash.audit import assert_audit_passes
from tests.engines.embedded.process_models import line, service

VERBS = """
- name: ubo.judge
  description: Say whether an entity is well owned
  input_schema: {properties: {entity: {type: string}}}
  output_schema: {properties: {verdict: {type: string}}}
  execution:
    kind: sync
    agent: AGENT
"""
PROGRAM = 'LET a = EXEC ubo.judge(entity: "A")\nLET b = EXEC ubo.judge(entity: "B")'
ONE = 'LET a = EXEC ubo.judge(entity: "A")'
BOTH = line("both", service("one", "ubo.judge"), service("two", "ubo.judge"))
ALONE = line("alone", service("one", "ubo.judge"))
MAX_COMMITS = 60
USED = 60


class Dear(Agent):
    """Uses so much each time it is asked."""

    name = "judge"

    async def decide(self, call: Call) -> dict[str, Any]:
        call.used("judge-1", input_tokens=USED, output_tokens=0)
        return {"verdict": "good"}


class State(TypedDict, total=False):
    """Of the graph that asks."""

    entity: str
    verdict: str


def asking() -> Any:
    async def ask(state: State) -> State:
        return {"verdict": interrupt(f"Who owns {state['entity']}?")}

    made = StateGraph(State)
    made.add_node("ask", ask)
    made.add_edge(START, "ask")
    made.add_edge("ask", END)
    return made.compile()


async def open_at(
    url: str, what: str, clock: VirtualSources, crash_at: int, side: Side, tenant: str
) -> tuple[Sandbox, FaultyDriver]:
    faulty = FaultyDriver(quiet_driver(url), crash_at, side)
    contract = "{max_tokens: 100, attempt_tokens: 60}" if what == "budget" else "{ask: compliance}"
    sandbox = await Sandbox.start(
        url, definitions=load_text(VERBS.replace("AGENT", contract)), clock=clock, driver=faulty, tenant=tenant,
        handlers={"ubo.judge": Dear() if what == "budget" else asking()}, principal="ada",
    )  # fmt: skip
    if not crash_at:
        await sandbox.runtime.look_after()
    return sandbox, faulty


async def begun(sandbox: Sandbox, kind: str, what: str, tenant: str) -> str:
    if kind == "runbook":
        program = PROGRAM if what == "budget" else ONE
        return (await sandbox.runbooks.start(program, idempotency_key=tenant)).id
    model = BOTH if what == "budget" else ALONE
    await sandbox.processes.deploy(model, profile="open")
    name = model.definitions.processes[0].id
    return (await sandbox.instances.start(name, {"entity": "A"}, idempotency_key=tenant)).id


async def budget_story(sandbox: Sandbox, kind: str, tenant: str) -> Any:
    """Two agents of 60 tokens and a budget of 100: the second waits until somebody decides that it is worth it."""
    id = await begun(sandbox, kind, "budget", tenant)
    await sandbox.run_until_idle()
    view = await shown(sandbox, kind, id)
    if view.state not in ("completed", "failed"):
        assert (view.usage.tokens if view.usage else 0) <= 100
        await sandbox.loosen_budget(id, max_tokens=500, reason="worth it")
    await sandbox.run_until_idle()
    await sandbox.advance("PT1M")
    await sandbox.run_until_idle()
    return await shown(sandbox, kind, id)


async def question_story(sandbox: Sandbox, kind: str, tenant: str) -> Any:
    id = await begun(sandbox, kind, "question", tenant)
    await sandbox.run_until_idle()
    rita = sandbox.acting(principal="rita", groups=["compliance"])
    for task in await rita.tasks.list(mine=True):
        await rita.tasks.complete(task.key, {"answer": "Ana"}, message_id=f"rita-{tenant}")
    await sandbox.run_until_idle()
    return await shown(sandbox, kind, id)


async def shown(sandbox: Sandbox, kind: str, id: str) -> Any:
    return await (sandbox.runbooks.show(id) if kind == "runbook" else sandbox.instances.get(id))


@pytest.mark.req("O13", "X9", "V14")
@pytest.mark.parametrize("kind", ["runbook", "process"])
@pytest.mark.parametrize("what", ["budget", "question"])
async def test_a_crash_at_any_commit_loses_nothing_and_spends_nothing_twice(
    store_url: str, kind: str, what: str
) -> None:
    clock, sides = VirtualSources(seed=1), ("before", "after")
    story = budget_story if what == "budget" else question_story
    for side in sides:
        for crash_at in range(1, MAX_COMMITS):
            tenant, crashes = f"{side}-{crash_at}", 0
            sandbox, faulty = await open_at(store_url, what, clock, crash_at, side, tenant)  # type: ignore[arg-type]
            while True:
                try:
                    view = await story(sandbox, kind, tenant)
                    break
                except (Crash, asyncio.CancelledError):
                    crashes += 1
                    await faulty.abandon()
                    sandbox, faulty = await open_at(store_url, what, clock, 0, "before", tenant)
            where = (crash_at, side)
            assert view.state == "completed", where
            if what == "budget":
                # Whatever is recorded was asked once; an attempt that was cut off says that more may have been used.
                assert (view.usage.tokens, view.usage.attempts) == (2 * USED, 2), where
                budget = await sandbox.budget(view.id)
                assert (budget.reserved, budget.waiting, budget.max_tokens) == ([], [], 500), where
            else:
                data = view.data if kind == "process" else view.steps[0].result
                assert data["verdict"] == "Ana", where
            await sandbox.runtime.stop()
            if not crashes:
                break
        else:
            pytest.fail("the story never ran through without reaching the crash")
    await assert_audit_passes(store_url)
