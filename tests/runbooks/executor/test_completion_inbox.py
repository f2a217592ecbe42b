"""The intake: repeats, reused keys and ids, and whatever could never be stored."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.errors import RejectedError, SchemaViolationError
from perdure.testing.sandbox import Sandbox
from perdure.work.worker_identity import ProcessIdentity
from tests.runbooks.sample_verbs import catalogue
from tests.runbooks.test_calls import opened


@pytest.mark.req("X7")
async def test_the_same_answer_to_a_later_wait_under_the_same_key_ends_that_wait_too(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        first = await sandbox.call("kyc.review", {"case": "C1"})
        answers = [(await sandbox.complete("C1", {"decision": "approve"})).answer for _ in range(2)]
        second = await sandbox.call("kyc.review", {"case": "C1"})
        later = await sandbox.complete("C1", {"decision": "approve"})
        again = await sandbox.complete("C1", {"decision": "approve"})
        assert answers == ["applied", "duplicate"] and (later.answer, again.answer) == ("applied", "duplicate")
        assert (await sandbox.status(first.id)).state == (await sandbox.status(second.id)).state == "completed"


async def test_one_message_under_a_calls_id_and_under_its_steps_id_is_one_message(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.documents", {"entity": "A"})
        answers = [
            (await sandbox.complete(key, {"case_id": "c"})).answer for key in (view.id, f"{view.id}:1", view.id.upper())
        ]
        assert answers == ["applied", "duplicate", "duplicate"]


async def test_a_message_that_came_too_early_is_applied_when_it_is_delivered_again(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        for message_id in ("m1", ""):
            case = f"C-{message_id}"
            assert (await sandbox.complete(case, {"ok": 1}, message_id=message_id)).answer == "dead_letter"
            assert (await sandbox.complete(case, {"ok": 1}, message_id=message_id)).answer == "duplicate"
            view = await sandbox.call("kyc.review", {"case": case})
            again = await sandbox.complete(case, {"ok": 1}, message_id=message_id)
            assert again.answer == "applied" and (await sandbox.status(view.id)).state == "completed"
            assert (await sandbox.complete(case, {"ok": 1}, message_id=message_id)).answer == "duplicate"


@pytest.mark.parametrize("is_open", [True, False])
async def test_a_message_id_used_under_another_key_is_refused_not_swallowed(store_url: str, is_open: bool) -> None:
    async with opened(store_url) as sandbox:
        await sandbox.call("kyc.review", {"case": "C1"})
        second = await sandbox.call("kyc.review", {"case": "C2"})
        await sandbox.complete("C1", {"ok": 1}, message_id="m")
        with pytest.raises(RejectedError, match="arrived before under the key 'C1'") as caught:
            await sandbox.complete("C2" if is_open else "C3", {"ok": 1}, message_id="m")
        assert caught.value.rejection.code == "already_exists"
        assert (await sandbox.status(second.id)).state == "parked"


async def test_a_repeat_of_an_older_message_never_ends_a_later_wait_under_the_same_key(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        await sandbox.call("kyc.review", {"case": "C1"})
        await sandbox.complete("C1", {"ok": 1}, message_id="m")
        second = await sandbox.call("kyc.review", {"case": "C1"})
        assert (await sandbox.complete("C1", {"ok": 1}, message_id="m")).answer == "duplicate"
        assert (await sandbox.status(second.id)).state == "parked"


async def test_the_key_of_an_escalation_may_serve_as_the_id_of_its_completion(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.orphaned")
        await sandbox.advance("P1D")
        key = f"{view.id}:1/escalation"
        assert (await sandbox.complete(key, {"ok": 1}, message_id=key)).answer == "applied"
        with pytest.raises(RejectedError, match="the platform's own"):
            await sandbox.complete(key, {"ok": 1}, message_id=f"perdure:{key}")


@pytest.mark.parametrize("key", ["", "a\0b", "k" * 1001, "\ud800"])
async def test_keys_that_no_store_could_keep_are_refused_at_the_door(store_url: str, key: str) -> None:
    async with opened(store_url) as sandbox:
        tries: list[Any] = [
            sandbox.complete(key, {}), sandbox.progress(key, "on its way"),
            *([sandbox.complete("C1", {}, message_id=key)] if key else []),
            *([sandbox.call("kyc.score", {"entity": "A"}, idempotency_key=key)] if key else []),
        ]  # fmt: skip
        for each in await asyncio.gather(*tries, return_exceptions=True):
            assert isinstance(each, RejectedError) and each.rejection.code == "invalid"
        with pytest.raises(RejectedError):
            sandbox.acting(tenant=key)
        assert await sandbox.dead_letters() == []


@pytest.mark.parametrize("case", ["a\0b", "\u00fc" * 501])
async def test_a_wait_that_could_not_be_stored_is_refused_before_anything_runs(store_url: str, case: str) -> None:
    async with opened(store_url) as sandbox:
        with pytest.raises(SchemaViolationError, match="no wait can open"):
            await sandbox.call("kyc.review", {"case": case})


async def test_data_with_nul_can_be_indexed_and_found(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.documents", {"entity": "a\0b"})
        assert [each.id for each in await sandbox.find("kyc.documents", entity="a\0b")] == [view.id]


async def test_completions_of_no_known_kind_are_refused_and_the_call_stays_readable(sqlite_url: str) -> None:
    async with opened(sqlite_url) as sandbox:
        view = await sandbox.call("kyc.review", {"case": "C1"})
        strange: dict[str, Any]
        for strange in ({"status": "done"}, {"error": "x", "failure_class": "bad"}):
            with pytest.raises(RejectedError, match="is not one of"):
                await sandbox.complete("C1", **strange)
        sandbox.runtime.kernel.forget()
        assert (await sandbox.status(view.id)).state == "parked"


async def test_a_dead_letter_dealt_with_meanwhile_is_not_reported_as_discarded(sqlite_url: str) -> None:
    async with opened(sqlite_url) as sandbox:
        await sandbox.complete("C1", {"ok": 1}, message_id="m")
        first, second = await asyncio.gather(
            sandbox.discard("m", "once"), sandbox.discard("m", "twice"), return_exceptions=True
        )
        assert first is None and isinstance(second, RejectedError)


async def test_a_call_parked_by_another_process_is_completed_by_its_id(store_url: str) -> None:
    """The process that completes remembers the call as it was before it parked."""
    definitions = catalogue("""
- name: kyc.ask
  description: Ask someone outside and wait
  execution: {kind: durable, retry: {max_attempts: 2, base_delay: PT10S, jitter: 0}}
""")
    fails = [True]

    async def ask(call: Any) -> dict[str, Any]:
        if fails:
            fails.clear()
            raise ConnectionError("refused")
        return {}

    async with (
        Sandbox.open(store_url, definitions=definitions, handlers={"kyc.ask": ask}) as first,
        Sandbox.open(store_url, definitions=definitions, handlers={"kyc.ask": ask}, clock=first.clock) as second,
    ):
        second.runtime.lease._identity = ProcessIdentity(
            "store_changed", "1/1"
        )  # so that it leaves the first one alone
        await first.runtime.lease.take(lambda: None)
        view = await first.call("kyc.ask")
        await second.advance("PT10S")
        assert (await second.status(view.id)).state == "parked"
        assert (await first.complete(view.id, {"ok": 1})).answer == "applied"


@pytest.mark.req("X7")
@pytest.mark.parametrize("by_id", [True, False])
async def test_an_answer_that_arrives_while_the_handler_still_asks_is_not_lost(store_url: str, by_id: bool) -> None:
    definitions = catalogue("""
- name: kyc.ask
  description: Ask someone outside, who is quick, and wait
  input_schema: {properties: {case: {type: string}}}
  execution: {kind: durable, correlation: {key: $case}}
""")
    answers: list[str] = []

    async def ask(call: Any) -> dict[str, Any]:
        key = call.call_id if by_id else call.args["case"]
        answers.append((await sandbox.complete(key, {"quick": True}, message_id="m")).answer)
        return {}

    async with Sandbox.open(store_url, definitions=definitions, handlers={"kyc.ask": ask}) as sandbox:
        await sandbox.complete("C1", {"quick": "long ago"}, message_id="old")
        sandbox.clock.move_to(sandbox.clock.now() + 1_000_000)
        view = await sandbox.call("kyc.ask", {"case": "C1"})
        assert answers == ["dead_letter"]
        assert (view.state, view.result) == ("completed", {"quick": True})
        assert [letter["message_id"] for letter in await sandbox.dead_letters()] == ["old"]
        key = view.id if by_id else "C1"
        assert (await sandbox.complete(key, {"quick": True}, message_id="m")).answer == "duplicate"
