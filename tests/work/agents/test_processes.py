"""Agents as the handlers of jobs: metered, held to the budget of their process, and unsure by a modelled error."""

from __future__ import annotations

from typing import Any

import pytest

from perdure import Agent, Call, Result, agent
from tests.crash.audit import assert_audit_passes
from tests.engines.embedded.process_models import Event, boundary, error, failure, flow, line, service, user
from tests.work.agents.agent_verbs import PRICES, answer, graph, opened

JUDGED = line("judged", service("judge", "ubo.judge"), service("note", "ubo.note"))
TWICE = line("twice", service("one", "ubo.judge"), service("two", "ubo.judge"))
ASKED = line(
    "asked", service("judge", "ubo.judge"),
    more=(boundary("unsure", "judge", error("agent.unsure")), user("person"), Event(id="told", position="end")),
    flows=(flow("unsure", "person"), flow("person", "told")), errors=(failure("agent.unsure"),),
)  # fmt: skip


async def begun(sandbox: Any, model: Any) -> Any:
    await sandbox.processes.deploy(model, profile="open")
    view = await sandbox.instances.start(model.definitions.processes[0].id, {"entity": "Allianz"})
    await sandbox.run_until_idle()
    return await sandbox.instances.get(view.id)


@pytest.mark.req("O4", "O13")
async def test_a_service_task_is_an_agents_and_what_it_used_is_recorded(store_url: str) -> None:
    async with opened(store_url, f"{{{PRICES}}}", judge=graph(answer())) as sandbox:
        view = await begun(sandbox, JUDGED)
        assert (view.state, view.data["verdict"]) == ("completed", "good")
        assert (view.usage.tokens, view.usage.cost, view.usage.attempts) == (120, "0.0004", 1)
        used = [event async for event in sandbox.instances.events(view.id) if event.entry == "AgentUsed"]
        assert [event.data["uses"][0]["model"] for event in used] == ["judge-1"]
    await assert_audit_passes(store_url)


@pytest.mark.req("O13")
async def test_an_agent_sets_flags_of_its_process_through_a_result(sqlite_url: str) -> None:
    def told(state: Any) -> Result:
        return Result({"verdict": state["verdict"]}, flags={"orch_verdict": state["verdict"]})

    async with opened(sqlite_url, judge=agent("ubo.judge", graph(answer()), output=told)) as sandbox:
        call = await sandbox.call("ubo.judge", {"entity": "Allianz"})
        assert (call.result, call.flags) == ({"verdict": "good"}, {"orch_verdict": "good"})


@pytest.mark.req("O4", "O13")
async def test_what_a_process_has_spent_counts_for_every_agent_of_it(store_url: str) -> None:
    class Dear(Agent):
        async def decide(self, call: Call) -> dict[str, Any]:
            call.used("judge-1", input_tokens=60, output_tokens=0)
            return {"verdict": "good"}

    async with opened(store_url, "{max_tokens: 100}", judge=Dear()) as sandbox:
        view = await begun(sandbox, TWICE)
        assert (view.incidents, view.usage.tokens) == ([], 120)
        assert view.waits[0].kind == "held" and "may use 100 tokens" in view.waits[0].text
    await assert_audit_passes(store_url)


@pytest.mark.req("O13")
async def test_an_agent_that_is_not_sure_is_a_business_error_that_leads_to_a_person(sqlite_url: str) -> None:
    contract = "{confidence: 0.8, ask: compliance}"
    async with opened(sqlite_url, contract, judge=graph(answer(), confidence=0.3)) as sandbox:
        view = await begun(sandbox, ASKED)
        assert [token.element for token in view.tokens] == ["person"] and view.usage.attempts == 1
        (task,) = await sandbox.tasks.list()
        await sandbox.tasks.complete(task.key, {"verdict": "bad"})
        await sandbox.run_until_idle()
        assert (await sandbox.instances.get(view.id)).data["verdict"] == "bad"
