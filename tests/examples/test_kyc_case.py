"""`kyc.open-case` end to end: one call to whoever asked, a process to whoever looks closer, on both stores."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from perdure import BusinessError, Call
from perdure.bpmn.machine.journal_entries import JobStarted
from perdure.errors import RejectedError, SchemaViolationError
from perdure.payload import data_hash
from tests.examples.casebook import ENTITY, Case, sandbox_of

ON_THE_WAY = [
    "kyc.create-case-record",
    "kyc.request-documents",
    "kyc.receive-documents",
    "kyc.assign-reviewer",
    "kyc.record-review-decision",
    "kyc.escalate-if-required",
]


@pytest.mark.req("V26")
@pytest.mark.req("V20")
async def test_a_case_parks_for_its_documents_and_its_reviewer_and_completes(kyc: Path, store_url: str) -> None:
    async with Case.opened(store_url, kyc) as case:
        assert (await case.call()).state == "parked"
        assert await case.stands_at() == {"wait_documents"}
        assert await case.send_documents() == "correlated"
        task = await case.task()
        assert (task.element, task.assignee, task.groups) == ("review", "rita", "compliance")
        await case.decide("approved", reason="all in order")
        call = await case.call()
        assert (call.state, call.result) == (
            "completed",
            {"case_id": await case.number(), "review_decision": "approved"},
        )
        assert (await case.record())["status"] == "approved"
        assert await case.documents() == {"register-extract": "received"}


@pytest.mark.req("V26")
@pytest.mark.req("V32")
async def test_the_payload_is_whole_at_every_crossing_and_the_trail_tells_who_touched_it(
    kyc: Path, store_url: str
) -> None:
    async with Case.opened(store_url, kyc) as case:
        await case.send_documents()
        await case.decide("approved")
        envelope = await case.envelope()
    trail = envelope.sub_verb_trail
    assert [each.verb for each in trail] == ON_THE_WAY
    assert trail[0].hash_in == data_hash({"entity_ref": ENTITY, "case_type": "periodic-review"})
    assert all(before.hash_out == after.hash_in for before, after in pairwise(trail))
    assert trail[-1].hash_out == envelope.schema_hash == data_hash(envelope.data)
    assert len({each.job_key for each in trail}) == len(trail)
    assert envelope.schema == "kyc.open-case/v1"
    assert (envelope.data["entity_ref"], envelope.data["received_documents"]) == (ENTITY, ["register-extract"])


@pytest.mark.req("V26")
async def test_whoever_asked_sees_one_step_and_no_word_of_the_process(kyc: Path, store_url: str) -> None:
    async with Case.opened(store_url, kyc) as case:
        await case.send_documents()
        await case.decide("approved")
        calls = await case.sandbox.find("kyc.open-case", entity=ENTITY)
        assert [call.id for call in calls] == [case.id]
        told = [event.entry async for event in case.sandbox.events(case.id)]
        assert (told[0], told[-1]) == ("CallStarted", "StepCompleted")
        assert not {"Entered", "Left", "Armed", "JobStarted"} & set(told)


@pytest.mark.req("V22")
async def test_a_rejected_case_withdraws_what_it_asked_for_and_completes(kyc: Path, store_url: str) -> None:
    async with Case.opened(store_url, kyc) as case:
        await case.send_documents()
        await case.decide("rejected", reason="sanctioned")
        call = await case.call()
        assert (call.state, call.result["review_decision"]) == ("completed", "rejected")
        assert await case.documents() == {"register-extract": "withdrawn"}
        assert (await case.envelope()).sub_verb_trail[-1].verb == "kyc.cancel-document-request"


def _refuse(call: Call) -> None:
    raise BusinessError("REGISTER_CLOSED", "the register is closed for good")


@pytest.mark.req("V16")
@pytest.mark.req("V22")
async def test_an_error_nobody_catches_undoes_what_was_done_and_fails_with_the_trail(kyc: Path, store_url: str) -> None:
    async with Case.opened(store_url, kyc, replaced={"kyc.assign-reviewer": _refuse}) as case:
        await case.send_documents()
        call = await case.call()
        assert (call.state, call.error and call.error.code) == ("failed", "REGISTER_CLOSED")
        assert (await case.instance()).state == "compensated"
        assert await case.documents() == {"register-extract": "withdrawn"}
        assert (await case.envelope()).sub_verb_trail[-1].verb == "kyc.cancel-document-request"


@pytest.mark.req("V16")
async def test_an_error_with_a_boundary_event_takes_it(kyc: Path, store_url: str) -> None:
    def nobody(call: Call) -> None:
        raise BusinessError("NO_REVIEWER", "everyone is ill")

    async with Case.opened(store_url, kyc, replaced={"kyc.assign-reviewer": nobody}) as case:
        await case.send_documents()
        assert await case.stands_at() == {"senior_review"}


@pytest.mark.req("V16")
async def test_a_broken_promise_is_an_incident_on_the_call_and_ends_nothing(kyc: Path, store_url: str) -> None:
    replaced = {"kyc.assign-reviewer": lambda call: {"reviewer": 7}}
    async with Case.opened(store_url, kyc, replaced=replaced) as case:
        await case.send_documents()
        call = await case.call()
        assert (call.state, call.waiting_for and call.waiting_for.kind) == ("parked", "incident")
        assert [each.element for each in (await case.instance()).incidents] == ["assign_reviewer"]


@pytest.mark.req("V22")
async def test_an_approved_case_withdraws_nothing(kyc: Path, store_url: str) -> None:
    async with Case.opened(store_url, kyc) as case:
        await case.send_documents()
        await case.decide("approved")
        assert await case.documents() == {"register-extract": "received"}


@pytest.mark.req("V21")
async def test_reminders_are_sent_while_the_wait_goes_on(kyc: Path, store_url: str) -> None:
    async with Case.opened(store_url, kyc) as case:
        await case.wait("P2D")
        assert (await case.record())["reminders"] == 0
        await case.wait("P4D")
        assert (await case.record())["reminders"] == 2
        assert await case.stands_at() == {"wait_documents"}
        await case.send_documents()
        await case.wait("PT23H")
        assert (await case.record())["reminders"] == 2
        await case.wait("PT1H")
        assert (await case.record())["reminders"] == 3
        assert await case.stands_at() == {"review"}


@pytest.mark.req("V21")
async def test_a_review_that_takes_too_long_goes_to_a_senior(kyc: Path, store_url: str) -> None:
    async with Case.opened(store_url, kyc) as case:
        await case.send_documents()
        old = (await case.task()).key
        await case.wait("P3D")
        task = await case.task()
        assert (task.element, task.groups) == ("senior_review", "senior-compliance")
        with pytest.raises(RejectedError):
            await case.sandbox.tasks.complete(old, {"outcome": "approved"})
        await case.decide("rejected", by="sam")
        assert (await case.call()).result["review_decision"] == "rejected"
        assert (await case.envelope()).data["escalated"] is True


@pytest.mark.req("V26")
async def test_a_grave_case_needs_a_second_signature(kyc: Path, store_url: str) -> None:
    async with Case.opened(store_url, kyc, "event-driven") as case:
        await case.send_documents()
        await case.decide("approved")
        assert ((await case.call()).state, await case.stands_at()) == ("parked", {"senior_review"})
        await case.decide("approved", by="sam")
        assert (await case.call()).state == "completed"


@pytest.mark.req("V19")
async def test_documents_that_come_twice_or_too_late_change_nothing(kyc: Path, store_url: str) -> None:
    async with Case.opened(store_url, kyc) as case:
        assert [await case.send_documents(id) for id in ("m1", "m1", "m2")] == [
            "correlated",
            "duplicate",
            "no_subscription",
        ]
        trail = (await case.envelope()).sub_verb_trail
        assert [each.verb for each in trail].count("kyc.receive-documents") == 1


@pytest.mark.req("V32")
async def test_what_a_person_brings_is_checked_at_the_door_and_sets_no_flag_by_itself(
    kyc: Path, store_url: str
) -> None:
    async with Case.opened(store_url, kyc) as case:
        with pytest.raises(RejectedError):
            await case.sandbox.runtime.engine.publish(
                "docs_received", await case.number(), case.sandbox._origin, flags={"orch_review_outcome": "approved"}
            )
        await case.send_documents()
        task = await case.task()
        with pytest.raises(SchemaViolationError):
            await case.sandbox.acting(principal="rita").tasks.complete(task.key, {"outcome": "perhaps"})
        with pytest.raises(RejectedError):
            await case.sandbox.runtime.engine.complete_task(
                task.instance,
                task.token,
                case.sandbox.acting(principal="rita")._origin,
                data={"outcome": "rejected"},
                flags={"orch_review_outcome": "approved"},
            )
        assert (await case.task()).key == task.key
        assert (await case.instance()).flags["orch_review_outcome"] == "pending"


@pytest.mark.req("V23")
async def test_a_cancelled_case_stops_and_undoes_nothing(kyc: Path, store_url: str) -> None:
    async with Case.opened(store_url, kyc) as case:
        call = await case.sandbox.cancel(case.id, "asked for by mistake")
        await case.sandbox.run_until_idle()
        assert call.state == "cancelled"
        assert (await case.instance()).state == "cancelled"
        assert (await case.instance()).completed == ["kyc.create-case-record", "kyc.request-documents"]
        await case.wait("P20D")
        assert await case.documents() == {"register-extract": "asked"}
        assert (await case.record())["reminders"] == 0
        assert await case.send_documents() == "no_subscription"


@pytest.mark.req("X27")
async def test_progress_is_shown_and_resumes_nothing(kyc: Path, store_url: str) -> None:
    async with Case.opened(store_url, kyc) as case:
        waiting = (await case.call()).waiting_for
        assert waiting is not None
        await case.sandbox.progress(waiting.key, "the client was called")
        call = await case.call()
        assert call.state == "parked" and call.progress.endswith("(reported: the client was called)")
        assert await case.stands_at() == {"wait_documents"}


@pytest.mark.req("V17")
async def test_a_case_goes_on_where_it_was_after_every_restart(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as first:
        clock = first.clock
        case = await Case.called(first)
        id = case.id
    async with sandbox_of(store_url, kyc, clock=clock) as second:
        case = Case(second, await second.status(id))
        await case.send_documents()
    async with sandbox_of(store_url, kyc, clock=clock) as third:
        case = Case(third, await third.status(id))
        await case.decide("approved")
        assert (await case.call()).state == "completed"
        assert [each.verb for each in (await case.envelope()).sub_verb_trail] == ON_THE_WAY
        assert [version.version for version in await third.processes.versions("kyc-open-case")] == [1]


@pytest.mark.req("V14")
async def test_a_job_that_is_delivered_twice_runs_its_verb_once(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        case = await Case.called(sandbox)
        engine: Any = sandbox.runtime.engine
        instances, instance = sandbox.runtime.instances, await case.instance()
        for told in await instances.history(instance.id, sandbox._origin):
            # The same commit is announced again, as after a notification that came twice.
            aggregate = await instances.read(instance.id, sandbox._origin)
            for entry in told.entries:
                if isinstance(entry, JobStarted):
                    engine.workshop.begin(aggregate, entry)
        await sandbox.run_until_idle()
        runs = [each.verb for each in (await case.envelope()).sub_verb_trail]
        assert runs == ["kyc.create-case-record", "kyc.request-documents"]
        assert len((await sandbox.result("kyc.list-documents", {"case_id": await case.number()}))["records"]) == 1


async def test_a_call_that_is_asked_for_twice_opens_one_case(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        asked = {"entity": ENTITY, "case_type": "periodic-review"}
        calls = {(await sandbox.call("kyc.open-case", asked, idempotency_key="one")).id for _ in range(3)}
        await sandbox.run_until_idle()
        assert (len(calls), len(await sandbox.instances.list(process="kyc-open-case"))) == (1, 1)
