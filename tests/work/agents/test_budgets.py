"""Budgets: reserved before an agent is asked, so that none is spent twice; used up, work waits until it is loosened."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models.function import AgentInfo

from perdure import Agent, BusinessError, Call
from perdure.agent_usage import Budget, Reservation, Spent, reserve, with_reservation
from perdure.errors import RejectedError
from perdure.testing.sandbox import Sandbox
from perdure.verbs import load_text
from tests.crash.audit import assert_audit_passes
from tests.engines.embedded.process_models import line, service, times, user
from tests.work.agents.agent_verbs import Asked, runner

VERBS = """
- name: ubo.judge
  description: Say whether an entity is well owned
  input_schema: {properties: {entity: {type: string}}}
  output_schema: {properties: {verdict: {type: string}}}
  execution:
    kind: sync
    agent: AGENT
"""
TWO = 'LET a = EXEC ubo.judge(entity: "A")\nLET b = EXEC ubo.judge(entity: "B")'
BOTH = line("both", service("one", "ubo.judge"), service("two", "ubo.judge"))


class Counting(Agent):
    """An agent that uses so many tokens, and says how many of it were at work at once."""

    name = "judge"

    def __init__(self, tokens: int = 60, gate: asyncio.Event | None = None) -> None:
        self.tokens, self.gate = tokens, gate
        self.asked = self.now = self.most = 0

    async def decide(self, call: Call) -> dict[str, Any]:
        self.asked += 1
        self.now += 1
        self.most = max(self.most, self.now)
        if self.gate is not None:
            await self.gate.wait()
        call.used("judge-1", input_tokens=self.tokens, output_tokens=0)
        self.now -= 1
        return {"verdict": "good"}


def opened(url: str, contract: str, agent: Any) -> Any:
    return Sandbox.open(url, definitions=load_text(VERBS.replace("AGENT", contract)), handlers={"ubo.judge": agent})


async def at_once(sandbox: Any, agent: Counting, most: int) -> None:
    """Let the agent answer once as many attempts as may be are at work."""
    assert agent.gate is not None
    for _ in range(200):
        if agent.now >= most:
            break
        await asyncio.sleep(0)
        await sandbox.runtime.driver.changed(0.01)
    agent.gate.set()
    await sandbox.run_until_idle()


@pytest.mark.req("O13")
@pytest.mark.parametrize(("contract", "most"), [("{max_tokens: 100}", 1), ("{max_tokens: 130, attempt_tokens: 65}", 2)])
async def test_two_steps_at_once_cannot_spend_the_same_budget(store_url: str, contract: str, most: int) -> None:
    agent = Counting(gate=asyncio.Event())
    async with opened(store_url, contract, agent) as sandbox:
        begun = asyncio.ensure_future(sandbox.runbooks.start(TWO))
        await at_once(sandbox, agent, most)
        runbook = await begun
        assert agent.most == most
        await sandbox.run_until_idle()
        budget = await sandbox.budget(runbook.id)
        if most == 1:
            # The one that waited asked with what was left, and used more than that: its answer does not count.
            assert (budget.used.tokens, len(budget.waiting), budget.reserved) == (120, 1, [])
            await sandbox.loosen_budget(runbook.id, max_tokens=300, reason="worth it")
            await sandbox.run_until_idle()
        assert (await sandbox.runbooks.show(runbook.id)).state == "completed"
    await assert_audit_passes(store_url)


@pytest.mark.req("O13")
@pytest.mark.parametrize("kind", ["call", "process"])
async def test_a_used_up_budget_makes_work_wait_until_somebody_loosens_it(store_url: str, kind: str) -> None:
    agent = Counting(tokens=100)
    async with opened(store_url, "{max_tokens: 100}", agent) as sandbox:
        if kind == "process":
            await sandbox.processes.deploy(BOTH, profile="open")
            id = (await sandbox.instances.start("both", {})).id
        else:
            id = (await sandbox.runbooks.start(TWO.replace("\n", "\n", 1))).id
        await sandbox.run_until_idle()
        assert agent.asked == 1
        budget = await sandbox.budget(id)
        assert (budget.max_tokens, budget.used.tokens, budget.is_set, len(budget.waiting)) == (100, 100, False, 1)
        if kind == "process":
            (wait,) = (await sandbox.instances.get(id)).waits
            assert wait.kind == "held" and "100 tokens in all" in wait.text
        with pytest.raises(RejectedError, match="wider"):
            await sandbox.tighten_budget(id, max_tokens=101)
        with pytest.raises(RejectedError, match="reason"):
            await sandbox.loosen_budget(id, max_tokens=300, reason=" ")
        await sandbox.loosen_budget(id, max_tokens=300, reason="it is worth it")
        await sandbox.run_until_idle()
        assert agent.asked == 2
        shown = await (sandbox.instances.get(id) if kind == "process" else sandbox.runbooks.show(id))
        assert shown.state == "completed"
        events = sandbox.instances.events(id) if kind == "process" else sandbox.events(id)
        told = [each async for each in events if getattr(each, "entry", "") == "BudgetSet"]
        assert kind == "call" or told[0].data["reason"] == "it is worth it"
        with pytest.raises(RejectedError):
            await sandbox.loosen_budget(id, max_tokens=900, reason="too late")
    await assert_audit_passes(store_url)


@pytest.mark.req("O13")
async def test_tightening_is_free_and_holds_for_the_next_attempt(sqlite_url: str) -> None:
    agent = Counting(tokens=60)
    async with opened(sqlite_url, "{max_tokens: 1000, attempt_tokens: 100}", agent) as sandbox:
        await sandbox.processes.deploy(BOTH, profile="open")
        agent.gate = asyncio.Event()
        begun = asyncio.ensure_future(sandbox.instances.start("both", {}))
        while not agent.now:
            await sandbox.runtime.driver.changed(0.01)
        (view,) = await sandbox.instances.list()
        assert [each.tokens for each in (await sandbox.budget(view.id)).reserved] == [100]
        tight = await sandbox.tighten_budget(view.id, max_tokens=100)
        assert (tight.max_tokens, tight.is_set) == (100, True)
        agent.gate.set()
        await begun
        await sandbox.run_until_idle()
        assert agent.asked == 1 and (await sandbox.budget(view.id)).waiting == ["two"]


@pytest.mark.req("O13")
async def test_an_attempt_that_used_more_than_it_may_fails_and_counts(sqlite_url: str) -> None:
    async with opened(sqlite_url, "{max_tokens: 1000, attempt_tokens: 50}", Counting(tokens=60)) as sandbox:
        call = await sandbox.call("ubo.judge", {})
        assert (call.state, call.error.code, call.usage.tokens) == ("failed", "agent.budget", 60)


def test_a_reservation_is_what_others_have_left() -> None:
    budget, spent = Budget(100, 1_000_000), Spent(input_tokens=30, cost=100_000)
    first = reserve(None, budget, spent, 1, 40, None)
    assert first == Reservation(1, 40, 900_000)
    assert isinstance(first, Reservation)
    ledger = with_reservation(None, first)
    second = reserve(ledger, budget, spent, 2, 20, 100_000)
    assert isinstance(second, tuple) and second[0] == "agent.reserved"  # all money is reserved
    assert reserve(ledger, Budget(100), spent, 2, 30, None) == Reservation(2, 30, None)
    assert reserve(ledger, budget, spent, 1, 60, None) == Reservation(1, 60, 900_000)  # its own does not count
    nothing = reserve(None, Budget(30), spent, 2, None, None)
    assert isinstance(nothing, tuple) and nothing[0] == "agent.budget"


@pytest.mark.req("O13")
async def test_the_worst_case_of_a_process_is_told_before_it_begins(sqlite_url: str) -> None:
    contract = '{max_cost: "5", attempt_cost: "0.50", max_requests: 4, attempt_tokens: 1000}'
    verbs = VERBS.replace("kind: sync\n", "kind: sync\n    retry: {max_attempts: 3}\n").replace("AGENT", contract)
    model = line("worst", service("one", "ubo.judge", repeat=times(2)), service("two", "ubo.judge"), user("look"))
    async with Sandbox.open(sqlite_url, definitions=load_text(verbs), handlers={"ubo.judge": Counting()}) as sandbox:
        await sandbox.processes.deploy(model, profile="open")
        found = await sandbox.processes.worst_case("worst")
        assert [(each.element, each.times, each.calls, each.cost) for each in found.elements] == [
            ("one", 2, 24, "3.00"), ("two", 1, 12, "1.50"), ("look", 1, 0, "0.00"),
        ]  # fmt: skip
        assert (found.calls, found.tokens, found.cost, found.writes, found.tasks) == (36, 9000, "4.50", 9, 1)
        assert found.reasons == []


class Endless(Asked):
    """A model that never says what is wanted; asked again and again it gives up, so that no test lasts for ever."""

    async def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(self.prompts) > 3:
            raise BusinessError("test.endless", "It was asked for ever.")
        return await super().__call__(messages, info)


UNPRICED = '{max_cost: "0.00002", prices: {gpt-x: {input: "2", output: "10"}}}'
"""The provider answers under another name, so that the cost is not known."""
FREE = '{max_cost: "0.0004", prices: {judge-1: {input: "0", output: "10"}}}'
"""The tokens that the money could buy at least are used up, and the money is not."""


async def asked_under(url: str, contract: str, kind: str) -> tuple[int, str]:
    """How often the model was asked, and the code of what became of it."""
    model = Endless({"wrong": True})
    async with opened(url, contract, runner(model)) as sandbox:
        if kind == "process":
            await sandbox.processes.deploy(line("alone", service("one", "ubo.judge")), profile="open")
            id = (await sandbox.instances.start("alone", {})).id
            await sandbox.run_until_idle()
            waits = [each.kind for each in (await sandbox.instances.get(id)).waits]
            texts = " ".join(repr(each) for each in await sandbox.incidents())
            return len(model.prompts), "agent.budget" if "agent.budget" in texts else str(waits)
        call = await sandbox.call("ubo.judge", {})
        await sandbox.run_until_idle()
        call = await sandbox.status(call.id)
        return len(model.prompts), call.error.code if call.error is not None else call.waiting_for.kind


@pytest.mark.req("O13")
@pytest.mark.parametrize("kind", ["call", "process"])
@pytest.mark.parametrize("contract", [UNPRICED, FREE])
async def test_an_attempt_whose_budget_is_not_surely_used_up_fails_and_is_not_repeated(
    store_url: str, kind: str, contract: str
) -> None:
    assert await asked_under(store_url, contract, kind) == (1, "agent.budget")
    await assert_audit_passes(store_url)


@pytest.mark.req("O13")
@pytest.mark.parametrize("kind", ["call", "process"])
async def test_an_attempt_that_was_held_with_room_left_is_not_repeated_at_once(
    sqlite_url: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perdure.work.verb_router.is_used_up", lambda *_: True)
    assert await asked_under(sqlite_url, UNPRICED, kind) == (1, "held" if kind == "call" else "['held']")
