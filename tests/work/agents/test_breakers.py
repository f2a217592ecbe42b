"""Circuit breakers of agents: an open one makes work wait, burns no attempt, and is shared by all workers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure import Agent, Call
from perdure.errors import RejectedError, Transient
from perdure.sources import SECOND
from perdure.store.store import Store
from perdure.testing.sandbox import Sandbox, quiet_driver
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import load_text
from perdure.verbs.agent_handlers import BreakerRule
from perdure.work.agents.circuit_breaker import Breaker, admit, closed, record, recorded, seconds_to_wait
from tests.crash.audit import assert_audit_passes
from tests.engines.embedded.process_models import line, service

VERBS = """
- name: ubo.judge
  description: Say whether an entity is well owned
  input_schema: {required: [entity], properties: {entity: {type: string}}}
  execution:
    kind: sync
    retry: {max_attempts: 2, base_delay: PT1S, jitter: 0}
    agent: {breaker: {failures: 0.5, calls: 2, open: PT10M}}
"""
RULE = BreakerRule(0.5, 2, 600.0, 1)
JUDGED = line("judged", service("judge", "ubo.judge"))


class Moody(Agent):
    """An agent that is away for as long as it is told."""

    name = "judge"

    def __init__(self) -> None:
        self.is_away, self.asked = True, 0

    async def decide(self, call: Call) -> dict[str, Any]:
        self.asked += 1
        if self.is_away:
            raise Transient("the model is away")
        return {"verdict": "good"}


def opened(url: str, agent: Moody) -> Any:
    return Sandbox.open(url, definitions=load_text(VERBS), handlers={"ubo.judge": agent})


async def tripped(sandbox: Any) -> None:
    """One call that fails in both its attempts."""
    call = await sandbox.call("ubo.judge", {"entity": "Allianz"})
    await sandbox.advance("PT5S")
    await sandbox.run_until_idle()
    assert (await sandbox.status(call.id)).state == "failed"


@pytest.mark.req("O13")
async def test_work_waits_at_an_open_breaker_without_burning_attempts_and_goes_on_after_a_trial(
    store_url: str,
) -> None:
    agent = Moody()
    async with opened(store_url, agent) as sandbox:
        await tripped(sandbox)
        (view,) = await sandbox.agents()
        assert (view.name, view.state, view.failed, view.attempts) == ("agent:judge", "open", 2, 2)
        one = await sandbox.call("ubo.judge", {"entity": "Bosch"})
        await sandbox.processes.deploy(JUDGED, profile="open")
        two = await sandbox.instances.start("judged", {"entity": "Ciba"})
        await sandbox.run_until_idle()
        assert agent.asked == 2
        waits = (await sandbox.status(one.id)).waiting_for
        assert (waits.kind, waits.code) == ("held", "agent.open") and "agent:judge" in waits.text
        assert [each.kind for each in (await sandbox.instances.get(two.id)).waits] == ["held"]
        await sandbox.advance("PT11M")  # the trial fails: open again, and still no attempt of the other is burnt
        await sandbox.run_until_idle()
        assert agent.asked == 3 and (await sandbox.agents())[0].trips == 2
        agent.is_away = False
        await sandbox.advance("PT11M")
        await sandbox.advance("PT11M")
        await sandbox.run_until_idle()
        assert (await sandbox.status(one.id)).state == "completed"
        assert (await sandbox.instances.get(two.id)).state == "completed"
        assert (await sandbox.agents())[0].state == "closed"
    await assert_audit_passes(store_url)


@pytest.mark.req("O13")
async def test_an_operator_closes_a_breaker_and_the_agent_is_asked_at_once(sqlite_url: str) -> None:
    agent = Moody()
    async with opened(sqlite_url, agent) as sandbox:
        await tripped(sandbox)
        agent.is_away = False
        with pytest.raises(RejectedError, match="reason"):
            await sandbox.close_agent("agent:judge", reason=" ")
        with pytest.raises(RejectedError, match="watched"):
            await sandbox.close_agent("agent:nobody", reason="it is back")
        view = await sandbox.close_agent("agent:judge", reason="it is back")
        assert (view.state, view.reason) == ("closed", "it is back") and view.closed_by
        assert (await sandbox.call("ubo.judge", {"entity": "Bosch"})).state == "completed"


@pytest.mark.req("O13")
async def test_workers_share_a_breaker_and_one_of_them_tries(store_url: str) -> None:
    clock = VirtualSources()
    drivers = [quiet_driver(store_url) for _ in range(2)]
    for driver in drivers:
        await driver.open()
    try:
        one, two = (Store(driver, clock).agent_breakers for driver in drivers)
        for breakers in (one, two):
            await record(breakers, "default", "agent:judge", RULE, clock.now(), failed=True)
        assert (await two.read("default", "agent:judge")).state == "open"
        later, shared = clock.now() + 601 * SECOND, [one, two] * 4
        waits = await asyncio.gather(*(seconds_to_wait(b, "default", "agent:judge", RULE, later) for b in shared))
        assert sum(wait is None for wait in waits) == 1 and all(wait is None or wait > 0 for wait in waits)
        wide = BreakerRule(calls=20)
        await asyncio.gather(*(record(b, "other", "agent:judge", wide, later, failed=False) for b in shared))
        assert (await one.read("other", "agent:judge")).recent == "0" * 8
    finally:
        for driver in drivers:
            await driver.close()


def test_a_breaker_moves_as_its_table_says() -> None:
    now = 1_000 * SECOND
    failing = recorded(Breaker(), RULE, now, failed=True)
    assert failing.state == "closed"  # one attempt is too few
    tripped = recorded(failing, RULE, now, failed=True)
    assert (tripped.state, tripped.until, tripped.trips) == ("open", now + 600 * SECOND, 1)
    assert admit(tripped, RULE, now + SECOND).until == tripped.until
    assert recorded(tripped, RULE, now, failed=False) is tripped  # it had begun before
    trial = admit(tripped, RULE, tripped.until).changed
    assert trial is not None and trial.state == "half_open"
    assert admit(trial, RULE, tripped.until + SECOND).until == trial.until
    assert admit(trial, RULE, trial.until).changed is not None  # whoever tried is not heard of
    assert recorded(trial, RULE, now, failed=False).state == "closed"
    assert recorded(trial, RULE, now, failed=True).state == "open"
    twice = BreakerRule(0.5, 2, 600.0, 2)
    once = recorded(trial, twice, now, failed=False)
    assert (once.state, once.successes) == ("half_open", 1)
    assert recorded(once, twice, now, failed=False).state == "closed"
    assert closed(tripped, now, "ada", "it is back").state == "closed"


@pytest.mark.req("O13")
async def test_an_attempt_that_was_held_is_told_as_such_in_every_history(sqlite_url: str) -> None:
    agent = Moody()
    async with opened(sqlite_url, agent) as sandbox:
        sandbox.runtime.measure()
        await tripped(sandbox)
        await sandbox.processes.deploy(JUDGED, profile="open")
        id = (await sandbox.instances.start("judged", {"entity": "Ciba"})).id
        await sandbox.run_until_idle()
        (told,) = (await sandbox.workflows.story(id)).executions
        assert (told.state, told.error.partition(":")[0]) == ("held", "agent.open")
