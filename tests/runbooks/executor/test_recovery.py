"""Upkeep: nothing that cannot go on holds up what can, and nothing is left behind unseen."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

import pytest

from perdure import Perdure
from perdure.errors import StoreUnavailableError
from perdure.journal import Origin
from perdure.kernel.kernel import Prepared
from perdure.kernel.ports import Conflict, Unit
from perdure.runbooks.executor import recovery
from perdure.runbooks.machine import commands as c
from perdure.sources import parse_id
from perdure.testing.fault_injection import submitting
from perdure.testing.sandbox import Sandbox
from perdure.work import background_tasks
from perdure.work.worker_identity import ProcessIdentity
from tests.runbooks.sample_verbs import DEFINITIONS, Handlers, catalogue
from tests.runbooks.test_calls import opened

ESCALATIONS = """
- name: ask.plain
  description: Escalates to someone who must be told the case
  input_schema: {required: [case], properties: {case: {type: string}}}
  output_schema: {required: [ok], properties: {ok: {type: boolean}}}
  execution: {kind: durable, policy: {timeout: P1D, escalation: ask.senior}}
- name: ask.senior
  description: Waits under the case
  input_schema: {required: [case], properties: {case: {type: string}}}
  execution: {kind: durable, correlation: {key: $case}}
- name: ask.slow
  description: Escalates to a handler
  execution: {kind: durable, policy: {timeout: P1D, escalation: ask.robot}}
- name: ask.robot
  description: Answers when it is ready
  execution: {kind: sync, effects: none}
"""
STEP = 1_000_000


async def incident(sandbox: Sandbox, id: str, code: str) -> None:
    command = Prepared(c.RaiseIncident(1, code, "Look."))
    await sandbox.runtime.kernel.ask("runbook", parse_id(id), Origin("default"), command)


async def ready(sandbox: Sandbox, verb: str) -> str:
    """A call that waits for any worker."""
    number, sandbox.runtime.lease.number = sandbox.runtime.lease.number, 0
    view = await sandbox.call(verb)
    sandbox.runtime.lease.number = number
    sandbox.clock.move_to(sandbox.clock.now() + STEP)
    return view.id


async def child_of(sandbox: Sandbox, id: str) -> dict[str, Any]:
    return next(each for each in await sandbox.parked() if each["parent"].startswith(id))


async def test_an_outcome_that_must_wait_for_an_incident_holds_up_no_other(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        first = await sandbox.call("kyc.decide", {"entity": "A"})
        second = await sandbox.call("kyc.decide", {"entity": "B"})
        await sandbox.advance("P7D")
        await incident(sandbox, first.id, "by.hand")
        for view in (first, second):
            child = await child_of(sandbox, view.id)
            await sandbox.complete(child["waiting_for"]["key"], {"for": view.id})
        await sandbox.run_until_idle()
        assert (await sandbox.status(second.id)).result == {"for": second.id}
        assert (await sandbox.status(first.id)).state == "parked"
        await sandbox.retry(first.id)
        await sandbox.run_until_idle()
        assert (await sandbox.status(first.id)).result == {"for": first.id}


async def test_a_slow_escalation_holds_up_nothing(store_url: str) -> None:
    finished = asyncio.Event()

    async def robot(call: Any) -> dict[str, Any]:
        await finished.wait()
        return {"by": "robot"}

    definitions = catalogue(ESCALATIONS)
    async with Sandbox.open(store_url, definitions=definitions, handlers={"ask.robot": robot}) as sandbox:
        view = await sandbox.call("ask.slow")
        sandbox.clock.move_to(sandbox.clock.now() + 86_400_000_000)
        await sandbox.runtime.timers.fire_due(sandbox.clock.now())
        async with asyncio.timeout(20):
            await sandbox.runtime.upkeep.deliver()
        finished.set()
        await sandbox.run_until_idle()
        done = await sandbox.status(view.id)
        assert (done.state, done.result) == ("completed", {"by": "robot"})


@pytest.mark.req("X13")
async def test_an_escalation_that_cannot_start_is_an_incident_whose_retry_starts_it(store_url: str) -> None:
    async with Sandbox.open(store_url, definitions=catalogue(ESCALATIONS)) as sandbox:
        other = await sandbox.call("ask.senior", {"case": "C1"})
        view = await sandbox.call("ask.plain", {"case": "C1"})
        await sandbox.advance("P1D")
        stuck = await sandbox.status(view.id)
        assert stuck.waiting_for is not None and stuck.waiting_for.code == "escalation.stuck"
        assert other.id in stuck.waiting_for.text
        await sandbox.complete("C1", {})
        await sandbox.retry(view.id)
        await sandbox.run_until_idle()
        await sandbox.complete("C1", {"ok": True})
        await sandbox.run_until_idle()
        done = await sandbox.status(view.id)
        assert (done.state, done.result) == ("completed", {"ok": True})


async def test_a_result_of_an_escalation_that_does_not_fit_the_verb_is_an_incident(store_url: str) -> None:
    async with Sandbox.open(store_url, definitions=catalogue(ESCALATIONS)) as sandbox:
        view = await sandbox.call("ask.plain", {"case": "C1"})
        await sandbox.advance("P1D")
        await sandbox.complete("C1", {"ok": "perhaps"})
        await sandbox.run_until_idle()
        stuck = await sandbox.status(view.id)
        assert stuck.waiting_for is not None and stuck.waiting_for.code == "escalation.stuck"
        assert "$.ok" in stuck.waiting_for.text
        assert (await sandbox.resolve(view.id, {"ok": False})).state == "completed"


async def test_an_escalation_erased_before_its_end_was_told_fails_its_parent_and_damages_nothing(
    store_url: str,
) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.decide", {"entity": "A"})
        await sandbox.advance("P7D")
        child = await child_of(sandbox, view.id)
        await sandbox.complete(child["waiting_for"]["key"], {"ok": 1})
        await sandbox.erase(child["id"], "asked for")
        await sandbox.run_until_idle()
        failed = await sandbox.status(view.id)
        assert failed.error is not None and (failed.state, failed.error.code) == ("failed", "escalation.erased")


async def test_an_escalation_is_left_to_the_worker_that_can_start_it(store_url: str) -> None:
    async with opened(store_url) as able:
        lesser = catalogue("\n".join(DEFINITIONS.split("- name: kyc.senior")[:1]))
        async with Sandbox.open(store_url, definitions=lesser, handlers={}, clock=able.clock) as unable:
            unable.runtime.lease._identity = ProcessIdentity(
                "store_changed", "1/1"
            )  # so that it leaves the other alone
            await able.runtime.lease.take(lambda: None)
            await able.runtime.upkeep.publish_definitions()
            view = await able.call("kyc.decide", {"entity": "A"})
            able.clock.move_to(able.clock.now() + 7 * 86_400_000_000)
            await able.runtime.timers.fire_due(able.clock.now())
            assert await unable.runtime.upkeep.deliver() == 0
            assert await able.runtime.upkeep.deliver() == 1
            assert (await child_of(able, view.id))["verb"] == "kyc.senior"


async def test_jobs_nobody_here_can_run_hide_no_job_that_can_run(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "PAGE", 2)
    async with opened(store_url) as sandbox:
        others = [await ready(sandbox, "kyc.notify") for _ in range(5)]
        ours = await ready(sandbox, "kyc.refuse")
    handlers = Handlers()
    bound = {"kyc.refuse": handlers.refuse}
    async with Sandbox.open(store_url, definitions=catalogue(), handlers=bound) as lesser:
        await lesser.run_until_idle()
        assert (await lesser.status(ours)).state == "failed"
        assert {(await lesser.status(each)).state for each in others} == {"executing"}


@pytest.mark.req("V31")
async def test_jobs_of_one_tenant_leave_room_to_those_of_another(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_tasks, "MAX_JOBS", 4)
    monkeypatch.setattr(recovery, "PAGE", 2)
    monkeypatch.setattr(recovery, "MOST_PASSED_OVER", 2, raising=False)
    go, begun = asyncio.Event(), []

    async def notify(call: Any) -> dict[str, Any]:
        begun.append(call.tenant)
        if call.tenant == "default":
            await go.wait()
        return {}

    async with opened(store_url) as sandbox:
        mine = [await ready(sandbox, "kyc.notify") for _ in range(7)]
        other = await ready(sandbox.acting(tenant="south"), "kyc.notify")
    async with Perdure.open(store_url, definitions=catalogue(), handlers={"kyc.notify": notify}) as perdure:
        async with asyncio.timeout(60):
            assert (await perdure.acting(tenant="south").wait(other)).state == "completed"
        assert begun.count("default") < len(mine)
        go.set()
        async with asyncio.timeout(60):
            assert {(await perdure.wait(each)).state for each in mine} == {"completed"}


@pytest.mark.req("X14")
async def test_a_retry_fired_where_its_verb_cannot_run_is_left_to_a_worker_that_can(store_url: str) -> None:
    async with opened(store_url) as able:
        view = await able.call("kyc.flaky")
    async with Sandbox.open(store_url, definitions=catalogue(), handlers={}) as unable:
        unable.clock.move_to(unable.clock.now() + 10_000_000)
        assert await unable.runtime.timers.fire_due(unable.clock.now()) == 1
        await unable.run_until_idle()
        left = await unable.status(view.id)
        assert left.waiting_for is None and left.state == "executing"
        assert await unable.incidents() == []


async def test_calls_whose_verb_is_gone_for_good_keep_no_other_from_healing(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "PAGE", 1)
    async with opened(store_url) as sandbox:
        gone = await sandbox.call("kyc.orphaned")
        back = await sandbox.call("kyc.documents", {"entity": "A"})
        for view in (gone, back):
            await incident(sandbox, view.id, "definition.missing")
            sandbox.clock.move_to(sandbox.clock.now() + 1)
    lesser = catalogue(DEFINITIONS.split("- name: kyc.orphaned")[0])
    async with Sandbox.open(store_url, definitions=lesser, handlers=Handlers().bound()) as sandbox:
        await sandbox.runtime.check()
        assert [each.id for each in await sandbox.incidents()] == [gone.id]


async def test_only_what_misses_its_definition_heals_by_itself(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.documents", {"entity": "A"})
        await incident(sandbox, view.id, "job.interrupted")
        healed = await sandbox.runtime.upkeep._heal(parse_id(view.id), 1, Origin("default"))
        assert not healed and [each.id for each in await sandbox.incidents()] == [view.id]


async def test_a_damaged_call_keeps_no_other_from_being_erased_healed_or_listed(sqlite_url: str) -> None:
    async with opened(sqlite_url) as sandbox:
        damaged = await sandbox.call("kyc.score", {"entity": "A"})
        parked = await sandbox.call("kyc.documents", {"entity": "A"})
        await incident(sandbox, parked.id, "definition.missing")
        sandbox.clock.move_to(sandbox.clock.now() + 1)
        whole = await sandbox.call("kyc.score", {"entity": "B"})
        waiting = await sandbox.call("kyc.documents", {"entity": "B"})
        with sqlite3.connect(sqlite_url.removeprefix("sqlite:///")) as file:
            for view in (damaged, parked):
                file.execute("UPDATE aggregate SET state = x'00' WHERE id = ?", (parse_id(view.id),))
        sandbox.runtime.kernel.forget()
        sandbox.clock.move_to(sandbox.clock.now() + 10_000_000)
        assert await sandbox.runtime.upkeep.erase_old(1) == 1
        assert (await sandbox.status(whole.id)).erased_at is not None
        await sandbox.runtime.check()
        assert [(each["id"], each["state"]) for each in await sandbox.parked()] == [
            (parked.id, "quarantined"), (waiting.id, "parked"),
        ]  # fmt: skip
        shown = {each.id: each.state for each in await sandbox.incidents()}
        assert shown == {parked.id: "quarantined", damaged.id: "quarantined"}
        assert {each.id for each in await sandbox.find("kyc.documents", entity="A")} == {parked.id}


async def test_an_intent_whose_commit_was_never_answered_is_carried_out_all_the_same(store_url: str) -> None:
    handlers = Handlers()
    async with opened(store_url, handlers) as sandbox:
        driver: Any = sandbox.runtime.driver
        submit = driver.submit

        async def unanswered(unit: Unit) -> Conflict | None:
            driver.submit = submit
            await driver.commit(unit)
            raise StoreUnavailableError("reach", "store", "it", "it did not answer")

        driver.submit = submitting(unanswered)
        with pytest.raises(StoreUnavailableError):
            await sandbox.call("kyc.notify", idempotency_key="k")
        for _ in range(2):
            assert handlers.calls == []
            await sandbox.runtime.check()
        await sandbox.run_until_idle()
        done = await sandbox.call("kyc.notify", idempotency_key="k")
        assert (done.state, len(handlers.calls)) == ("completed", 1)
