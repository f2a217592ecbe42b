"""The other two durable verbs of the KYC example: documents from a client, a review by compliance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.app.calls.views import CallView
from perdure.testing import Sandbox
from tests.examples.casebook import sandbox_of

CASE = "7f3f0f6e-6c8e-4b51-9d6a-0b5a8f0f4e11"
WANTED = {"case_id": CASE, "document_types": ["passport"], "contact_email": "ana@example.org"}
UPLOAD = {"documents": [{"document": "passport", "reference": "document://p-1"}]}
PACKAGE = {"case_id": CASE, "review_package": {"summary": "a client like others"}}


async def begun(sandbox: Sandbox, verb: str, args: dict[str, Any]) -> CallView:
    call = await sandbox.call(verb, args)
    await sandbox.run_until_idle()
    return call


async def upload(sandbox: Sandbox, documents: dict[str, Any]) -> None:
    assert await sandbox.publish("documents_uploaded", CASE, documents) == "correlated"
    await sandbox.run_until_idle()


async def decide(sandbox: Sandbox, by: str, **brought: Any) -> None:
    (task,) = await sandbox.tasks.list()
    await sandbox.acting(principal=by).tasks.complete(task.key, brought)
    await sandbox.run_until_idle()


@pytest.mark.req("X15")
@pytest.mark.parametrize("days", ["P1D", "P4D"], ids=["in time", "after a reminder"])
async def test_documents_that_are_uploaded_end_the_request(kyc: Path, store_url: str, days: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        call = await begun(sandbox, "kyc.request-client-documents", WANTED)
        await sandbox.advance(days)
        await upload(sandbox, UPLOAD)
        done = await sandbox.status(call.id)
        assert (done.state, done.result) == (
            "completed",
            {"documents_status": "received", "received_documents": ["passport"]},
        )
        (asked,) = (await sandbox.result("kyc.list-documents", {"case_id": CASE}))["records"]
        assert asked["reminders"] == (0 if days == "P1D" else 1)


@pytest.mark.req("X15")
async def test_a_client_who_stays_silent_is_reminded_and_handed_to_compliance(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        call = await begun(sandbox, "kyc.request-client-documents", WANTED)
        await sandbox.advance("P7D")
        assert (await sandbox.status(call.id)).state == "parked"
        await sandbox.advance("P1D")
        assert (await sandbox.status(call.id)).result == {"documents_status": "escalated"}


@pytest.mark.req("X15")
async def test_an_upload_that_is_not_what_was_asked_for_goes_to_compliance(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        call = await begun(sandbox, "kyc.request-client-documents", WANTED)
        await upload(sandbox, {"documents": [{"document": "holiday-photo", "reference": "document://p-2"}]})
        assert (await sandbox.status(call.id)).result == {"documents_status": "escalated", "received_documents": []}


@pytest.mark.req("X15")
@pytest.mark.req("X27")
async def test_progress_of_a_request_is_shown_by_its_case_and_resumes_nothing(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        call = await begun(sandbox, "kyc.request-client-documents", WANTED)
        await sandbox.progress(CASE, "reminder sent by hand")
        seen = await sandbox.status(call.id)
        assert seen.state == "parked" and seen.progress.endswith("(reported: reminder sent by hand)")


@pytest.mark.req("X15")
@pytest.mark.parametrize("decision", ["approved", "rejected"])
async def test_an_officer_decides(kyc: Path, store_url: str, decision: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        call = await begun(sandbox, "kyc.await-compliance-review", PACKAGE)
        await decide(sandbox, "chen", decision=decision, reason="seen")
        done = await sandbox.status(call.id)
        assert done.result == {"case_id": CASE, "decision": decision, "reason": "seen"}
        assert (await sandbox.result("compliance.read-review", {"case_id": CASE}))["status"] == decision


@pytest.mark.req("X15")
async def test_a_review_is_reminded_of_then_escalated_then_given_up(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        call = await begun(sandbox, "kyc.await-compliance-review", PACKAGE)
        await sandbox.advance("P7D")
        review = await sandbox.result("compliance.read-review", {"case_id": CASE})
        assert (review["officer"], review["reminders"]) == ("senior-compliance", 3)
        assert [task.element for task in await sandbox.tasks.list(group="senior-compliance")] == ["senior_decide"]
        await sandbox.advance("P3D")
        done = await sandbox.status(call.id)
        assert (done.state, done.result) == ("completed", {"case_id": CASE})
