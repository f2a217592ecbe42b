"""Whatever arrives two to five times, out of order, at once and in two processes, has one effect."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from perdure.app.perdure import Perdure
from perdure.errors import RejectedError
from perdure.verbs import Call, load_text
from perdure.work.ports import TimerFound
from tests.pair import Pair, pair

DEFINITIONS = """
verbs:
- {name: t.none, execution: {kind: sync, effects: none}}
- {name: t.external, execution: {kind: sync, effects: external}}
- {name: t.mended, output_schema: {required: [ok]}, execution: {kind: sync, effects: external}}
- {name: t.flaky, execution: {kind: sync, effects: external, retry: {max_attempts: 2, base_delay: PT1S, jitter: 0}}}
- {name: t.wait, execution: {kind: durable}}
- {name: t.urgent, execution: {kind: durable, policy: {timeout: PT1H, escalation: t.wait}}}
- {name: t.timed, execution: {kind: durable, policy: {timeout: PT1H}}}
"""

Act = Callable[[Perdure], Awaitable[Any]]


class Handlers:
    """Counts runs; each fails or succeeds by its attempt."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()

    async def run(self, call: Call) -> dict[str, Any]:
        self.runs[call.verb] += 1
        if call.verb == "t.mended":
            return {} if call.attempt == 1 else {"ok": True}
        if call.verb == "t.flaky" and call.attempt == 1:
            raise ConnectionError("not yet")
        return {"run": self.runs[call.verb]}

    def bound(self) -> dict[str, Callable[..., Any]]:
        async def run(call: Call) -> dict[str, Any]:
            return await self.run(call)

        return {f"t.{name}": run for name in ("none", "external", "mended", "flaky")}


@pytest.fixture
def opened(store_url: str) -> Callable[[], Any]:
    return lambda: pair(store_url, load_text(DEFINITIONS), Handlers().bound())


async def at_once(both: Pair, *acts: Act, seed: int = 1) -> list[Any]:
    """Each act two to five times, shuffled, all at the same time, on either process; refusals are answers too."""
    chance = random.Random(seed)
    copies = [act for act in acts for _ in range(chance.randrange(2, 6))]
    chance.shuffle(copies)
    answers = await asyncio.gather(
        *[act(chance.choice((both.first, both.second))) for act in copies], return_exceptions=True
    )
    for answer in answers:
        if isinstance(answer, BaseException) and not isinstance(answer, RejectedError):
            raise answer
    return answers


async def counted(both: Pair, id: str) -> Counter[str]:
    return Counter(await both.entries(id))


@pytest.mark.req("X6")
@pytest.mark.parametrize("verb", ["t.none", "t.external", "t.wait"])
async def test_eight_starts_with_one_key_are_one_call_and_seven_replays(store_url: str, verb: str) -> None:
    handlers = Handlers()
    async with pair(store_url, load_text(DEFINITIONS), handlers.bound()) as both:
        starts = [who.call(verb, idempotency_key="one") for who in (both.first, both.second) * 4]
        views = await asyncio.gather(*starts)
        assert len({view.id for view in views}) == 1
        assert (await counted(both, views[0].id))["CallStarted"] == 1
        assert len(await both.first.runtime.driver.fetch("scan_ids", after=b"", most=10)) == 1
        assert handlers.runs["t.external"] == (verb == "t.external")
        again = await both.second.call(verb, idempotency_key="one")
        assert again.state == ("parked" if verb == "t.wait" else "completed")


@pytest.mark.req("X7")
@pytest.mark.req("X16")
@pytest.mark.parametrize("message_id", ["m1", ""], ids=["with an id", "without an id"])
async def test_a_completion_arriving_often_is_counted_once(opened: Any, message_id: str) -> None:
    async with opened() as both:
        call = await both.first.call("t.wait")
        answers = await at_once(both, lambda who: who.complete(f"{call.id}:1", {"n": 1}, message_id=message_id))
        assert Counter(answer.answer for answer in answers) == {"applied": 1, "duplicate": len(answers) - 1}
        entries = await counted(both, call.id)
        assert (entries["CompletionReceived"], entries["StepCompleted"], entries["CompletionIgnored"]) == (1, 1, 0)


@pytest.mark.req("X7")
async def test_different_completions_of_one_wait_end_it_once(opened: Any) -> None:
    async with opened() as both:
        call = await both.first.call("t.wait")

        def completing(n: int) -> Act:
            return lambda who: who.complete(f"{call.id}:1", {"n": n}, message_id=f"m{n}")

        acts = [completing(n) for n in range(3)]
        answers = await at_once(both, *acts)
        assert sum(answer.answer == "applied" for answer in answers) == 1
        winner = next(answer.message_id for answer in answers if answer.answer == "applied")
        view = await both.second.status(call.id)
        assert (view.state, f"m{view.result['n']}") == ("completed", winner)
        assert (await counted(both, call.id))["StepCompleted"] == 1


@pytest.mark.req("X7")
async def test_a_cancel_arriving_often_cancels_once(opened: Any) -> None:
    async with opened() as both:
        call = await both.first.call("t.wait")
        answers = await at_once(both, lambda who: who.cancel(call.id))
        assert {answer.state for answer in answers} == {"cancelled"}
        assert (await counted(both, call.id))["CallCancelled"] == 1


@pytest.mark.req("X7")
async def test_a_cancel_and_a_completion_at_once_leave_one_end(opened: Any) -> None:
    async with opened() as both:
        for seed in range(4):
            call = await both.first.call("t.wait")
            await at_once(both, _cancelling(call.id), _completing(call.id), seed=seed)
            entries = await counted(both, call.id)
            assert entries["CallCancelled"] + entries["StepCompleted"] == 1


@pytest.mark.req("X27")
async def test_progress_posted_often_is_one_entry(opened: Any) -> None:
    async with opened() as both:
        call = await both.first.call("t.wait")
        await at_once(both, lambda who: who.progress(f"{call.id}:1", "half of it"))
        assert (await counted(both, call.id))["ProgressPosted"] == 1
        assert (await both.second.status(call.id)).progress == "half of it"


@pytest.mark.req("X13")
async def test_a_timer_fired_by_both_processes_times_out_once(opened: Any) -> None:
    async with opened() as both:
        call = await both.first.call("t.timed")
        (timer,) = await both.first.runtime.store.due_timers(0, b"", 2**62, 5)
        await at_once(both, lambda who: who.runtime.upkeep.fire(timer))
        assert (await counted(both, call.id))["TimedOut"] == 0, "it is not due yet"
        both.clock.move_to(timer.due)
        await at_once(both, lambda who: who.runtime.upkeep.fire(timer), lambda who: who.complete("x", {}))
        entries = await counted(both, call.id)
        assert (entries["TimedOut"], entries["StepFailed"]) == (1, 1)


@pytest.mark.req("X14")
async def test_a_retry_fired_by_both_processes_runs_once(opened: Any) -> None:
    async with opened() as both:
        call = await both.first.call("t.flaky")
        (timer,) = await both.first.runtime.store.due_timers(0, b"", 2**62, 5)
        both.clock.move_to(timer.due)
        await at_once(both, lambda who: who.runtime.upkeep.fire(TimerFound(*timer)))
        for who in (both.first, both.second):
            await who.runtime.conductor.finish_jobs(None)
        entries = await counted(both, call.id)
        assert (entries["AttemptStarted"], entries["StepCompleted"]) == (2, 1)


@pytest.mark.req("V16")
async def test_an_incident_retried_often_is_tried_again_once(opened: Any) -> None:
    async with opened() as both:
        call = await both.first.call("t.mended")
        await at_once(both, lambda who: who.retry(call.id))
        entries = await counted(both, call.id)
        assert (entries["IncidentResolved"], entries["AttemptStarted"], entries["StepCompleted"]) == (1, 2, 1)


@pytest.mark.req("V16")
async def test_an_incident_resolved_often_is_resolved_once(opened: Any) -> None:
    async with opened() as both:
        call = await both.first.call("t.mended")
        await at_once(
            both, lambda who: who.resolve(call.id, {"ok": True}), lambda who: who.resolve(call.id, error="given up")
        )
        entries = await counted(both, call.id)
        assert (entries["IncidentResolved"], entries["StepCompleted"] + entries["StepFailed"]) == (1, 1)


async def test_an_amendment_approved_often_is_approved_once(opened: Any) -> None:
    async with opened() as both:
        call = await both.first.call("t.wait")
        await both.first.amend(call.id, {}, reason="typo")
        await at_once(both, lambda who: who.acting(principal="second").amend(call.id, approve=1))
        assert (await counted(both, call.id))["AmendmentApproved"] == 1


@pytest.mark.req("X7")
async def test_a_dead_letter_replayed_often_ends_one_wait(opened: Any) -> None:
    async with opened() as both:
        await both.first.complete("nobody", {"n": 1}, message_id="lost")
        calls = [await both.first.call("t.wait") for _ in range(2)]

        def replaying(id: str) -> Act:
            return lambda who: who.replay("lost", key=f"{id}:1")

        acts = [replaying(call.id) for call in calls]
        await at_once(both, *acts)
        ended = sum([(await counted(both, call.id))["StepCompleted"] for call in calls])
        assert ended == 1
        assert await both.second.dead_letters() == []


@pytest.mark.req("X7")
async def test_an_unknown_completion_arriving_often_is_one_dead_letter(opened: Any) -> None:
    async with opened() as both:
        answers = await at_once(both, lambda who: who.complete("nobody", {"n": 1}, message_id="lost"))
        assert Counter(answer.answer for answer in answers) == {"dead_letter": 1, "duplicate": len(answers) - 1}
        assert [letter["message_id"] for letter in await both.first.dead_letters()] == ["lost"]


@pytest.mark.req("X7")
async def test_a_wait_that_another_process_began_is_found_by_the_id_of_its_call(opened: Any) -> None:
    async with opened() as both:
        call = await both.first.call("t.urgent")
        (timer,) = await both.first.runtime.store.due_timers(0, b"", 2**62, 5)
        both.clock.move_to(timer.due)
        await both.second.runtime.upkeep.fire(timer)
        receipt = await both.first.complete(call.id, {"n": 1})
        assert receipt.answer == "applied"
        assert (await both.second.status(call.id)).state == "completed"


def _cancelling(id: str) -> Act:
    return lambda who: who.cancel(id)


def _completing(id: str) -> Act:
    return lambda who: who.complete(f"{id}:1", {})
