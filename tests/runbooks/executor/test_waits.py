"""Waiting: parking, completions of every kind, timeouts, escalation, progress, dead letters."""

from __future__ import annotations

import pytest

from perdure.errors import RejectedError, SchemaViolationError
from perdure.testing.sandbox import Sandbox
from perdure.verbs import Call, load_text
from tests.runbooks.test_calls import opened


@pytest.mark.req("X7", "X2")
async def test_a_durable_verb_parks_and_its_completion_pops_it_once(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.documents", {"entity": "Allianz"})
        assert view.state == "parked" and view.waiting_for is not None
        assert view.waiting_for.key == f"{view.id}:1" and view.waiting_for.due_at is not None
        first = await sandbox.complete(view.waiting_for.key, {"case_id": "c1"}, message_id="m1")
        again = await sandbox.complete(view.waiting_for.key, {"case_id": "c1"}, message_id="m1")
        other = await sandbox.complete(view.waiting_for.key, {"case_id": "c2"}, message_id="m2")
        assert [first.answer, again.answer, other.answer] == ["applied", "duplicate", "late"]
        done = await sandbox.status(view.id)
        assert (done.state, done.result) == ("completed", {"case_id": "c1"})
        names = [event.entry async for event in sandbox.events(view.id)]
        assert names.count("CompletionReceived") == 1 and names.count("CompletionIgnored") == 1


async def test_the_calls_own_id_stands_for_its_key(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.documents", {"entity": "A"})
        receipt = await sandbox.complete(view.id, {"case_id": "c"})
        assert receipt.answer == "applied"


@pytest.mark.req("X25")
async def test_a_failed_completion_fails_the_call_with_its_reason(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.documents", {"entity": "A"})
        await sandbox.complete(f"{view.id}:1", error="the client left", code="CLIENT_LEFT")
        failed = await sandbox.status(view.id)
        assert failed.state == "failed" and failed.error is not None
        assert (failed.error.code, failed.error.message) == ("CLIENT_LEFT", "the client left")


async def test_a_result_that_does_not_fit_is_refused_at_the_door_and_the_wait_goes_on(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.documents", {"entity": "A"})
        with pytest.raises(SchemaViolationError, match="case_id"):
            await sandbox.complete(f"{view.id}:1", {"case": 1})
        assert (await sandbox.status(view.id)).state == "parked"
        assert (await sandbox.complete(f"{view.id}:1", {"case_id": "c"})).answer == "applied"


@pytest.mark.req("X13")
async def test_a_timeout_without_escalation_fails_and_a_late_completion_is_recorded_not_applied(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.documents", {"entity": "A"})
        await sandbox.advance("P13DT23H59M59S")
        assert (await sandbox.status(view.id)).state == "parked"
        await sandbox.advance("PT1S")
        failed = await sandbox.status(view.id)
        assert failed.error is not None and (failed.state, failed.error.code) == ("failed", "timed_out")
        late = await sandbox.complete(f"{view.id}:1", {"case_id": "c"})
        assert late.answer == "late" and (await sandbox.status(view.id)).state == "failed"
        assert "CompletionIgnored" in [event.entry async for event in sandbox.events(view.id)]


@pytest.mark.req("X13")
async def test_a_timeout_with_escalation_is_escalated_until_the_escalation_ends_it(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.decide", {"entity": "A"})
        await sandbox.advance("P7D")
        escalated = await sandbox.status(view.id)
        assert escalated.state == "escalated" and escalated.waiting_for is not None
        assert (escalated.waiting_for.kind, escalated.waiting_for.verb) == ("escalation", "kyc.senior")
        child = next(each for each in await sandbox.parked() if each["verb"] == "kyc.senior")
        assert child["args"] == {"entity": "A", "call_id": view.id}
        await sandbox.complete(child["waiting_for"]["key"], {"decision": "approve"})
        await sandbox.run_until_idle()
        done = await sandbox.status(view.id)
        assert (done.state, done.result) == ("completed", {"decision": "approve"})


async def test_a_failed_escalation_fails_the_step(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.decide", {"entity": "A"})
        await sandbox.advance("P7D")
        child = next(each for each in await sandbox.parked() if each["verb"] == "kyc.senior")
        await sandbox.complete(child["waiting_for"]["key"], error="no")
        await sandbox.run_until_idle()
        assert (await sandbox.status(view.id)).state == "failed"


async def test_an_escalation_nobody_serves_waits_for_a_person(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.orphaned")
        await sandbox.advance("P2D")
        escalated = await sandbox.status(view.id)
        assert escalated.waiting_for is not None
        receipt = await sandbox.complete(escalated.waiting_for.key, {"by": "hand"})
        assert receipt.answer == "applied" and (await sandbox.status(view.id)).state == "completed"


@pytest.mark.req("X25")
async def test_an_expired_completion_acts_like_a_timeout(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.decide", {"entity": "A"})
        await sandbox.complete(f"{view.id}:1", status="expired")
        await sandbox.run_until_idle()
        assert (await sandbox.status(view.id)).state == "escalated"


@pytest.mark.req("X27")
async def test_progress_is_shown_and_never_resumes(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.documents", {"entity": "A"})
        await sandbox.progress(f"{view.id}:1", "reminder sent")
        after = await sandbox.status(view.id)
        assert (after.state, after.progress) == ("parked", "reminder sent")
        with pytest.raises(RejectedError, match="nothing waits"):
            await sandbox.progress("nobody", "hello")
        with pytest.raises(RejectedError, match="empty"):
            await sandbox.progress(f"{view.id}:1", "  ")


@pytest.mark.req("X7")
async def test_a_key_nobody_waits_under_is_a_dead_letter_that_can_be_replayed_or_discarded(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        receipt = await sandbox.complete("c-77", {"ok": 1}, message_id="m1")
        again = await sandbox.complete("c-77", {"ok": 1}, message_id="m1")
        assert (receipt.answer, again.answer) == ("dead_letter", "duplicate")
        await sandbox.complete("c-78", {"ok": 1}, message_id="m2")
        assert [letter["message_id"] for letter in await sandbox.dead_letters()] == ["m1", "m2"]
        with pytest.raises(RejectedError, match="unknown_key"):
            await sandbox.replay("m1")
        view = await sandbox.call("kyc.review", {"case": "c-77"})
        assert (await sandbox.replay("m1")).answer == "applied"
        assert (await sandbox.status(view.id)).result == {"ok": 1}
        await sandbox.discard("m2", "a typing error")
        assert await sandbox.dead_letters() == []
        with pytest.raises(RejectedError, match="dealt with already"):
            await sandbox.replay("m2")
        with pytest.raises(RejectedError, match="there is none"):
            await sandbox.discard("m3", "x")


async def test_a_key_two_verbs_wait_under_needs_the_verbs_name(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        review = await sandbox.call("kyc.review", {"case": "c"})
        audit = await sandbox.call("kyc.audit", {"case": "c"})
        receipt = await sandbox.complete("c", {"ok": 1}, message_id="m1")
        assert receipt.answer == "dead_letter" and "kyc.audit, kyc.review" in receipt.reason
        assert (await sandbox.complete("c", {"ok": 1}, verb="kyc.audit", message_id="m2")).answer == "applied"
        assert (await sandbox.status(audit.id)).state == "completed"
        assert (await sandbox.status(review.id)).state == "parked"


@pytest.mark.req("X7")
async def test_a_key_is_unique_among_waiting_tokens_only(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        first = await sandbox.call("kyc.review", {"case": "c"})
        with pytest.raises(RejectedError, match=f"call {first.id} already waits under that key"):
            await sandbox.call("kyc.review", {"case": "c"})
        await sandbox.complete("c", {"n": 1}, message_id="m1")
        second = await sandbox.call("kyc.review", {"case": "c"})
        await sandbox.complete("c", {"n": 2}, message_id="m2")
        assert (await sandbox.status(second.id)).result == {"n": 2}
        assert (await sandbox.status(first.id)).result == {"n": 1}


@pytest.mark.req("X8")
async def test_many_parked_calls_are_popped_in_any_order(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        calls = [await sandbox.call("kyc.review", {"case": f"c{number}"}) for number in range(20)]
        for number in (*range(0, 20, 3), *range(1, 20, 3), *range(2, 20, 3)):
            await sandbox.complete(f"c{number}", {"n": number})
        assert [(await sandbox.status(each.id)).result["n"] for each in calls] == list(range(20))
        assert await sandbox.parked() == []


async def test_cancel_ends_a_call_once_and_what_comes_later_is_recorded(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.documents", {"entity": "A"})
        assert (await sandbox.cancel(view.id, "wrong client")).state == "cancelled"
        assert (await sandbox.cancel(view.id)).state == "cancelled"
        assert (await sandbox.complete(f"{view.id}:1", {"case_id": "c"})).answer == "late"
        done = await sandbox.call("kyc.score", {"entity": "A"})
        with pytest.raises(RejectedError, match="already completed"):
            await sandbox.cancel(done.id)
        names = [event.entry async for event in sandbox.events(view.id)]
        assert names[-3:] == ["CancelRequested", "CallCancelled", "CompletionIgnored"]


async def test_ending_an_escalated_step_by_hand_cancels_the_call_its_escalation_began(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.decide", {"entity": "A"})
        await sandbox.advance("P7D")
        escalated = await sandbox.status(view.id)
        child = next(each for each in await sandbox.parked() if each["verb"] == "kyc.senior")
        assert escalated.waiting_for is not None
        await sandbox.complete(escalated.waiting_for.key, {"by": "hand"})
        await sandbox.run_until_idle()
        assert (await sandbox.status(view.id)).result == {"by": "hand"}
        assert (await sandbox.status(child["id"])).state == "cancelled"
        assert await sandbox.parked() == []


async def test_cancelling_an_escalated_call_cancels_its_escalation_too(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.decide", {"entity": "A"})
        await sandbox.advance("P7D")
        await sandbox.cancel(view.id, "no longer needed")
        await sandbox.run_until_idle()
        assert await sandbox.parked() == []
        assert await sandbox.runtime.driver.fetch("pending_inbox", after=0, most=10) == []


async def test_a_taken_key_is_refused_before_the_handler_tells_anyone(store_url: str) -> None:
    sent: list[str] = []

    async def send(call: Call) -> None:
        sent.append(call.args["case"])

    definitions = load_text("""
- name: kyc.write
  input_schema: {required: [case], properties: {case: {type: string}}}
  execution: {kind: durable, correlation: {key: $case}}
""")
    async with Sandbox.open(store_url, definitions=definitions, handlers={"kyc.write": send}) as sandbox:
        await sandbox.call("kyc.write", {"case": "c"})
        with pytest.raises(RejectedError, match="already waits under that key"):
            await sandbox.call("kyc.write", {"case": "c"})
        assert sent == ["c"]


async def test_events_show_times_and_failures_as_people_read_them(sqlite_url: str) -> None:
    async with opened(sqlite_url) as sandbox:
        view = await sandbox.call("kyc.refuse")
        failed = [event async for event in sandbox.events(view.id)][-1]
        assert failed.data["at"] == failed.at
        assert failed.data["failure"]["code"] == "SANCTIONED"
