"""A worker paused past its lease can write nothing, and the one that took over finishes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from perdure.app.calls.views import ReceiptView
from perdure.app.lost_lease_retry import under_new_lease
from perdure.errors import FencedError, StoreUnavailableError
from perdure.journal import Decision
from perdure.kernel.kernel import Prepared
from perdure.kernel.ports import Attachments, Unit
from perdure.sources import parse_id
from perdure.store.audit import verify
from perdure.verbs import Call, load_text
from perdure.work.background_tasks import BackgroundTasks
from perdure.work.ports import TimerFound
from tests.pair import Pair, pair

DEFINITIONS = """
verbs:
- {name: f.external, execution: {kind: sync, effects: external}}
- {name: f.none, execution: {kind: sync, effects: none}}
- {name: f.broken, output_schema: {required: [ok]}, execution: {kind: sync, effects: external}}
- {name: f.timed, execution: {kind: durable, policy: {timeout: PT1H}}}
"""


class Slow:
    """The first run waits until it is woken; later ones return at once."""

    def __init__(self) -> None:
        self.begun, self.woken = asyncio.Event(), asyncio.Event()
        self.keys: list[str] = []

    async def __call__(self, call: Call) -> dict[str, int]:
        self.keys.append(call.idempotency_key)
        mine = len(self.keys)
        self.begun.set()
        if mine == 1:
            await self.woken.wait()
        return {"run": mine}


async def plain(call: Call) -> dict[str, bool]:
    return {}


def handlers(slow: Slow) -> dict[str, Callable[..., object]]:
    async def external(call: Call) -> dict[str, int]:
        return await slow(call)

    return {"f.external": external, "f.none": plain, "f.broken": plain}


@pytest.mark.req("V14")
async def test_a_worker_paused_past_its_lease_writes_nothing_and_the_other_finishes(store_url: str) -> None:
    slow = Slow()
    async with pair(store_url, load_text(DEFINITIONS), handlers(slow)) as both:
        asking = asyncio.create_task(both.first.call("f.external", idempotency_key="k"))
        await slow.begun.wait()
        await both.lapse()
        taken = await both.second.call("f.external", idempotency_key="k")
        assert (taken.state, taken.result) == ("completed", {"run": 2})
        slow.woken.set()
        late = await asking
        assert (late.state, late.result, late.sequence) == ("completed", {"run": 2}, taken.sequence)
        assert await both.entries(taken.id) == ["CallStarted", "AttemptStarted", "AttemptStarted", "StepCompleted"]
        assert len(set(slow.keys)) == 1


@pytest.mark.req("V14")
async def test_a_worker_that_wakes_after_losing_its_lease_does_not_begin_the_handler(store_url: str) -> None:
    slow = Slow()
    slow.woken.set()
    async with pair(store_url, load_text(DEFINITIONS), handlers(slow)) as both:
        crew = both.first.runtime.conductor.crew
        held = pause_before_work(crew)
        begun = await both.first.call("f.external", wait=False)
        assert held, "the step is leased, and its handler is about to begin"
        await both.lapse()
        assert (await both.second.status(begun.id)).result == {"run": 1}
        for name, work in held:
            BackgroundTasks.submit(crew, name, work)
        await crew.finish(None)
        assert len(slow.keys) == 1, "the one that woke left it alone"
        assert await both.entries(begun.id) == ["CallStarted", "AttemptStarted", "AttemptStarted", "StepCompleted"]


def pause_before_work(crew: Any) -> list[tuple[Any, Any]]:
    """Stop a process where a job is leased and its handler has not begun; what it was about to do."""
    held: list[tuple[Any, Any]] = []
    crew.submit = crew.enqueue = lambda name, work: held.append((name, work))
    return held


async def test_whatever_a_fenced_worker_does_under_its_lost_lease_is_refused(store_url: str) -> None:
    async with pair(store_url, load_text(DEFINITIONS), handlers(Slow())) as both:
        waiting = await both.first.call("f.timed", idempotency_key="waiting")
        await both.lapse()
        before = await both.entries(waiting.id)
        assert not both.first.runtime.lease.beat_once()
        unit = Unit("default", None, attachments=[Attachments(settles=("default", "m"))])
        with pytest.raises(FencedError):
            await both.first.runtime.driver.commit(unit)
        timer = TimerFound(both.clock.now(), parse_id(waiting.id), 1, "timeout", "default")
        await both.first.runtime.upkeep.fire(timer)
        assert await both.entries(waiting.id) == before


@pytest.mark.both_stores(one_in=5)
@pytest.mark.parametrize("ask", range(10))
async def test_whatever_is_asked_of_a_process_that_lost_its_lease_is_done_under_a_new_one(
    ask: int, store_url: str
) -> None:
    slow = Slow()
    slow.woken.set()
    async with pair(store_url, load_text(DEFINITIONS), handlers(slow)) as both:
        waiting = await both.first.call("f.timed", idempotency_key="waiting")
        stuck = await both.first.call("f.broken", idempotency_key="stuck")
        await both.lapse()
        runtime = both.first.runtime
        lost = runtime.lease.number
        asked: Any = await _writes(both, waiting.id, stuck.id)[ask]()
        assert runtime.lease.number != lost
        assert asked.state in ("parked", "completed", "cancelled", "failed", "executing")
        report = await verify(runtime.store, runtime.machines, {}, dry=True)
        assert report.findings == []


def _writes(both: Pair, waiting: str, stuck: str) -> list[Callable[[], Awaitable[object]]]:
    first = both.first
    return [
        lambda: first.call("f.timed", idempotency_key="new"),
        lambda: first.call("f.none"),
        lambda: first.call("f.external", idempotency_key="again"),
        lambda: _told(both, first.complete(f"{waiting}:1", {}, message_id="m"), waiting),
        lambda: _told(both, first.complete("nobody", {}, message_id="n"), waiting),
        lambda: _told(both, first.progress(f"{waiting}:1", "half"), waiting),
        lambda: first.cancel(waiting),
        lambda: first.resolve(stuck, {"ok": True}),
        lambda: first.amend(waiting, {}, reason="typo"),
        lambda: first.runbooks.start("(f.none :as @one) (f.external :as @two)", idempotency_key="plan", wait=False),
    ]


def test_payloads_of_steps_that_are_not_begun_under_the_new_lease_are_left_out() -> None:
    """Otherwise the audit finds data that no record speaks of."""
    alone, together = (
        Attachments(payloads=[(b"plan", b"{}")]),
        Attachments(payloads=[(b"plan", b"{}"), (b"args", b"{}")]),
    )
    first = Prepared(LateStart(worker=3), together, Decision(()), undecided=alone)
    again = under_new_lease(first, FencedError("write as", "worker", "3", "its lease was taken away"), 4)
    assert again == Prepared(LateStart(worker=4), alone)


class LateStart(msgspec.Struct, frozen=True):
    """A command that names the lease it is given under."""

    worker: int


async def _told(both: Pair, asked: Awaitable[ReceiptView], id: str) -> object:
    assert (await asked).answer in ("applied", "dead_letter")
    return await both.second.status(id)


async def test_a_worker_that_lost_its_lease_works_on_under_a_new_one(store_url: str) -> None:
    async with pair(store_url, load_text(DEFINITIONS), handlers(Slow())) as both:
        runtime = both.first.runtime
        lost = runtime.lease.number
        await both.lapse()
        await asyncio.gather(*[runtime._renew(lost) for _ in range(3)])
        live = [row.number for row in await runtime.store.live_workers()]
        assert len(live) == 2
        assert runtime.lease.number in live
        assert (await both.first.call("f.none")).state == "completed"


async def test_a_job_taken_over_by_its_own_process_under_a_new_lease_is_run_again(store_url: str) -> None:
    slow = Slow()
    async with pair(store_url, load_text(DEFINITIONS), handlers(slow)) as both:
        asking = asyncio.create_task(both.first.call("f.external", idempotency_key="k"))
        await slow.begun.wait()
        runtime = both.first.runtime
        lost = runtime.lease.number
        await runtime.store.fence_worker(lost, 2**62)
        await runtime._renew(lost)
        await runtime.look_after()
        slow.woken.set()
        await asking
        await runtime.conductor.finish_jobs(None)
        view = await both.first.call("f.external", idempotency_key="k")
        assert (view.state, view.result) == ("completed", {"run": 2})


async def test_a_renewal_is_tried_until_the_store_answers(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with pair(store_url, load_text(DEFINITIONS), handlers(Slow())) as both:
        runtime = both.first.runtime
        lost, add_worker = runtime.lease.number, runtime.store.add_worker
        failures = [StoreUnavailableError("reach", "store", "it", "the network is down")] * 2

        async def unreliable(host: str, process: str, duration: int) -> int:
            if failures:
                raise failures.pop()
            return await add_worker(host, process, duration)

        monkeypatch.setattr(runtime.store, "add_worker", unreliable)
        await both.lapse()
        duty = asyncio.create_task(runtime._try(lambda: both.first.call("f.none")))
        while failures or not duty.done():
            await asyncio.sleep(0)
            both.clock.move_to(both.clock.now() + 1_000_000)
        assert runtime.lease.number != lost


async def test_a_commit_that_waits_for_a_new_lease_is_answered_when_the_process_stops(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with pair(store_url, load_text(DEFINITIONS), handlers(Slow())) as both:
        store = both.first.runtime.store
        renewing = asyncio.Event()

        async def endless(lost: FencedError) -> None:
            renewing.set()
            await asyncio.Event().wait()

        monkeypatch.setattr(store, "renew", endless)
        await both.lapse()
        unit = Unit("default", None, attachments=[Attachments(settles=("default", "m"))])
        commit = asyncio.ensure_future(store.commit(unit))
        await renewing.wait()
        await store.end_renewals()
        with pytest.raises(FencedError):
            await commit
        with pytest.raises(FencedError):
            await store.commit(unit)  # what comes later waits for no lease either
