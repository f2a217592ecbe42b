"""Commands that meet in one commit: none is lost, none fails because of another, none leaves what it should not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from perdure.errors import RejectedError, SchemaViolationError, StoreUnavailableError
from perdure.journal import Origin
from perdure.kernel.kernel import Prepared
from perdure.kernel.ports import Attachments, Conflict, Unit
from perdure.payload import canonical, digest
from perdure.runbooks.executor.call_executor import KIND
from perdure.runbooks.machine import commands as c
from perdure.sources import parse_id
from perdure.store.audit import verify
from perdure.store.commit_callbacks import awaited
from perdure.testing.fault_injection import submitting
from perdure.verbs import Call, load_text
from tests.pair import Pair, pair

DEFINITIONS = """
verbs:
- {name: k.external, execution: {kind: sync, effects: external}}
- {name: k.wait, execution: {kind: durable}}
- name: k.checked
  output_schema: {required: [ok], properties: {ok: {type: boolean}}}
  execution: {kind: durable}
- name: k.order
  input_schema: {required: [name], properties: {name: {type: string}}}
  execution: {kind: durable, correlation: {key: "order-$name"}, policy: {timeout: PT1H, escalation: k.night}}
- {name: k.night, execution: {kind: durable}}
- {name: k.urgent, execution: {kind: durable, policy: {timeout: PT1H, escalation: k.slow}}}
- {name: k.slow, execution: {kind: sync, effects: external}}
"""


async def answer(call: Call) -> dict[str, Any]:
    return {"by": call.idempotency_key}


@asynccontextmanager
async def opened(url: str, **handlers: Any) -> AsyncIterator[Pair]:
    bound = {"k.external": answer, "k.slow": answer} | {f"k.{name}": each for name, each in handlers.items()}
    async with pair(url, load_text(DEFINITIONS), bound) as both:
        yield both


async def findings(both: Pair) -> list[str]:
    runtime = both.first.runtime
    return [each.sentence for each in (await verify(runtime.store, runtime.machines, {}, dry=True)).findings]


@pytest.mark.req("X6")
async def test_a_caller_that_gives_up_leaves_a_call_that_goes_on(store_url: str) -> None:
    async with opened(store_url) as both:
        driver = both.first.runtime.driver
        commit = partial(awaited, driver.submit)
        committed = asyncio.Event()

        async def observed(unit: Unit) -> Conflict | None:
            committed.set()
            return await commit(unit)

        driver.submit = submitting(observed)  # type: ignore[method-assign]
        asking = asyncio.create_task(both.first.call("k.external", idempotency_key="k"))
        await committed.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await both.first.runtime.kernel.drain()
        await both.first.runtime.conductor.finish_jobs(None)
        assert (await both.second.call("k.external", idempotency_key="k")).state == "completed"


@pytest.mark.req("X6")
async def test_what_a_handler_did_is_recorded_when_the_store_answers_again(store_url: str) -> None:
    async with opened(store_url) as both:
        driver = both.first.runtime.driver
        commit = partial(awaited, driver.submit)
        outages = [StoreUnavailableError("reach", "store", "it", "the network is down")] * 3

        async def unreliable(unit: Unit) -> Conflict | None:
            if unit.version > 1 and outages:
                raise outages.pop()
            return await commit(unit)

        driver.submit = submitting(unreliable)  # type: ignore[method-assign]
        asking = asyncio.create_task(both.first.call("k.external"))
        while not asking.done():
            await asyncio.sleep(0)
            both.clock.move_to(both.clock.now() + 1_000_000)
        view = await asking
        assert (view.state, outages) == ("completed", [])
        assert await both.entries(view.id) == ["CallStarted", "AttemptStarted", "StepCompleted"]


@pytest.mark.req("X4")
async def test_data_that_does_not_fit_refuses_its_own_command_alone(store_url: str) -> None:
    async with opened(store_url) as both:
        call = await both.first.call("k.checked")
        bad, good, note = await asyncio.gather(
            both.first.complete(f"{call.id}:1", {"ok": "yes"}, message_id="bad"),
            both.first.complete(f"{call.id}:1", {"ok": True}, message_id="good"),
            both.first.progress(f"{call.id}:1", "nearly"),
            return_exceptions=True,
        )
        assert isinstance(bad, SchemaViolationError)
        assert not isinstance(good, BaseException)
        assert good.answer == "applied"
        assert not isinstance(note, BaseException) or isinstance(note, RejectedError)


async def test_data_of_a_completion_that_changes_nothing_is_not_kept(store_url: str) -> None:
    async with opened(store_url) as both:
        call = await both.first.call("k.wait")
        await both.first.complete(f"{call.id}:1", {"n": 1}, message_id="first")
        late = await both.second.complete(f"{call.id}:1", {"n": 2}, message_id="second")
        assert late.answer == "late"
        assert await findings(both) == []


@pytest.mark.req("P7")
async def test_data_completed_and_erased_in_one_commit_is_gone(store_url: str) -> None:
    async with opened(store_url) as both:
        call = await both.first.call("k.wait", {})
        data = canonical({"n": 1})
        command = Prepared(c.Complete(1, 1, digest(data)), Attachments(payloads=[(digest(data), data)]))
        runtime = both.first.runtime
        before = runtime.driver.commits
        await asyncio.gather(
            runtime.kernel.ask(KIND, parse_id(call.id), Origin(), command),
            runtime.upkeep.erase(parse_id(call.id), Origin(), "asked for"),
        )
        assert runtime.driver.commits == before + 1
        assert (await both.second.status(call.id)).erased_at
        assert await findings(both) == []


@pytest.mark.req("X13")
async def test_calls_that_wait_under_one_key_in_turn_each_escalate(store_url: str) -> None:
    async with opened(store_url) as both:
        ids = []
        for _ in range(2):
            ids.append((await both.first.call("k.order", {"name": "a"})).id)
            (timer,) = await both.first.runtime.store.due_timers(0, b"", 2**62, 5)
            both.clock.move_to(timer.due)
            await both.first.runtime.upkeep.fire(timer)
        assert [(await both.second.status(id)).state for id in ids] == ["escalated", "escalated"]


async def test_a_slow_escalation_does_not_hold_up_the_upkeep(store_url: str) -> None:
    woken = asyncio.Event()

    async def slow(call: Call) -> dict[str, Any]:
        await woken.wait()
        return {}

    async with opened(store_url, slow=slow) as both:
        call = await both.first.call("k.urgent")
        (timer,) = await both.first.runtime.store.due_timers(0, b"", 2**62, 5)
        both.clock.move_to(timer.due)
        assert both.first.runtime.lease.beat_once()
        await both.first.runtime.upkeep.fire(timer)
        assert await both.first.runtime.look_after()
        woken.set()
        await both.first.runtime.conductor.finish_jobs(None)
        await both.first.runtime.look_after()
        assert (await both.second.status(call.id)).state == "completed"
