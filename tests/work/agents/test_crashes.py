"""The process stops in the middle of an agent's work, and at every commit of a proposal's life: on both stores."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure import Agent, Call, Decide
from perdure.testing.fault_injection import Crash, FaultyDriver, Side
from perdure.testing.sandbox import Sandbox, quiet_driver
from perdure.testing.virtual_clock import VirtualSources
from tests.crash.audit import assert_audit_passes
from tests.work.agents.agent_verbs import catalogue, entries, find, freeze, note

CONTRACT = "{max_tokens: 1000, confidence: 0.8, ask: compliance}"
PROGRAM = '(ubo.find :entity "A" :as @a)\n(ubo.decide :as @decision :after [@a])\n'
MAX_COMMITS = 30


class Doubting(Agent):
    """Asks a model each time it is asked, and is never sure."""

    name = "doubting"

    def __init__(self) -> None:
        self.runs = 0
        self.keys: set[str] = set()
        self.hangs = False
        self.begun = asyncio.Event()

    async def decide(self, call: Call) -> Decide:
        self.runs += 1
        self.begun.set()
        self.keys.add(call.idempotency_key)
        call.used("judge-1", input_tokens=100, output_tokens=0)
        if self.hangs:
            await asyncio.Event().wait()
        return Decide({"verdict": "good"}, add=[{"verb": "ubo.note", "name": "noted"}], confidence=0.1)


async def open_at(
    url: str, doubting: Doubting, clock: VirtualSources, crash_at: int, side: Side, tenant: str
) -> tuple[Sandbox, FaultyDriver]:
    faulty = FaultyDriver(quiet_driver(url), crash_at, side)
    handlers = {"ubo.find": find, "ubo.note": note, "ubo.freeze": freeze, "ubo.judge": doubting, "ubo.decide": doubting}
    sandbox = await Sandbox.start(
        url, definitions=catalogue(CONTRACT), handlers=handlers, clock=clock, driver=faulty, tenant=tenant,
        principal="ada",
    )  # fmt: skip
    if not crash_at:
        await sandbox.runtime.look_after()
    return sandbox, faulty


async def story(sandbox: Sandbox, tenant: str) -> Any:
    view = await sandbox.runbooks.start(PROGRAM, idempotency_key=tenant)
    await sandbox.run_until_idle()
    rita = sandbox.acting(principal="rita", groups=["compliance"])
    for task in await rita.tasks.list(mine=True):
        await rita.tasks.accept(task.key)
    await sandbox.run_until_idle()
    return await sandbox.runbooks.show(view.id)


@pytest.mark.req("O13", "X9", "V14")
async def test_a_crash_at_any_commit_of_a_proposal_loses_nothing_and_decides_nothing_twice(store_url: str) -> None:
    clock, sides = VirtualSources(seed=1), ("before", "after")
    for side in sides:
        for crash_at in range(1, MAX_COMMITS):
            tenant, doubting, crashes = f"{side}-{crash_at}", Doubting(), 0
            sandbox, faulty = await open_at(store_url, doubting, clock, crash_at, side, tenant)  # type: ignore[arg-type]
            while True:
                try:
                    view = await story(sandbox, tenant)
                    break
                except (Crash, asyncio.CancelledError):
                    crashes += 1
                    await faulty.abandon()
                    sandbox, faulty = await open_at(store_url, doubting, clock, 0, "before", tenant)
            where = (crash_at, side)
            assert (view.state, [step.state for step in view.steps]) == ("completed", ["completed"] * 3), where
            assert len(doubting.keys) == 1 and doubting.runs <= 2, where
            for name in ("AgentUsed", "ProposalMade", "ProposalAnswered"):
                assert len(await entries(sandbox, view.id, name)) == 1, (where, name)
            # What a run used that was cut off before it was recorded is not known, and that is said.
            assert (view.usage.tokens, view.usage.attempts) == (100, 1), where
            await sandbox.runtime.stop()
            if not crashes:
                break
        else:
            pytest.fail("the story never ran through without reaching the crash")
    await assert_audit_passes(store_url)


@pytest.mark.req("O13", "V14")
async def test_an_agent_that_is_cut_off_is_asked_again_under_the_same_key_and_that_is_recorded(store_url: str) -> None:
    clock, doubting = VirtualSources(seed=1), Doubting()
    doubting.hangs = True
    sandbox, faulty = await open_at(store_url, doubting, clock, 0, "before", "default")
    view = await sandbox.runbooks.start(PROGRAM)
    await doubting.begun.wait()
    await faulty.abandon()
    doubting.hangs = False
    sandbox, _ = await open_at(store_url, doubting, clock, 0, "before", "default")
    await sandbox.run_until_idle()
    shown = await sandbox.runbooks.show(view.id)
    assert (shown.step("decision").state, doubting.runs, len(doubting.keys)) == ("parked", 2, 1)
    (used,) = await entries(sandbox, view.id, "AgentUsed")
    assert used["is_cut"] and shown.usage.unknown_costs == 1
    await sandbox.runtime.stop()
    await assert_audit_passes(store_url)


@pytest.mark.req("O13")
async def test_an_agent_that_reports_after_its_runbook_was_cancelled_is_discarded_and_paid_for(store_url: str) -> None:
    begun, released = asyncio.Event(), asyncio.Event()

    class Late(Agent):
        async def decide(self, call: Call) -> Decide:
            begun.set()
            call.used("judge-1", input_tokens=7, output_tokens=0)
            await released.wait()
            return Decide({"verdict": "good"}, confidence=1.0)

    sandbox, _ = await open_at(store_url, Late(), VirtualSources(seed=1), 0, "before", "default")  # type: ignore[arg-type]
    view = await sandbox.runbooks.start(PROGRAM)
    await begun.wait()
    await sandbox.runbooks.cancel(view.id, "no need")
    released.set()
    await sandbox.run_until_idle()
    shown = await sandbox.runbooks.show(view.id)
    assert (shown.state, shown.usage.tokens, shown.usage.attempts) == ("cancelled", 7, 1)
    assert len(await entries(sandbox, view.id, "AttemptDiscarded")) == 1
    await sandbox.runtime.stop()
    await assert_audit_passes(store_url)
