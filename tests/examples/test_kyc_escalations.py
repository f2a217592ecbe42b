"""What waits too long is escalated: the process of the escalation ends the call it was begun for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.app.calls.views import CallView
from perdure.testing import Sandbox
from tests.examples.casebook import sandbox_of

CASE = "7f3f0f6e-6c8e-4b51-9d6a-0b5a8f0f4e11"
GAP = {"id": "*>X:owners_unknown", "type": "owners_unknown", "entity": "X", "text": "?", "is_blocking": True}
ASKED = {"case_id": CASE, "gaps": [GAP]}


async def escalated(sandbox: Sandbox, verb: str, args: dict[str, Any]) -> CallView:
    call = await sandbox.call(verb, args)
    await sandbox.run_until_idle()
    await sandbox.complete((await sandbox.status(call.id)).waiting_for.key, status="expired")
    await sandbox.run_until_idle()
    found = await sandbox.status(call.id)
    assert found.state == "escalated"
    return found


async def answer(sandbox: Sandbox, by: str, groups: tuple[str, ...], **brought: Any) -> None:
    (task,) = [task for task in await sandbox.tasks.list() if "escalation" in task.process]
    await sandbox.acting(principal=by, groups=groups).tasks.complete(task.key, brought)
    await sandbox.run_until_idle()


@pytest.mark.req("X24")
@pytest.mark.parametrize(("resolution", "status"), [("obtained", "received"), ("given-up", "escalated")])
async def test_compliance_ends_what_a_client_did_not_answer(
    kyc: Path, store_url: str, resolution: str, status: str
) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        call = await sandbox.call("kyc.request_additional_information", ASKED)
        await sandbox.advance("P14D")
        assert (await sandbox.status(call.id)).state == "escalated"
        await answer(sandbox, "chen", ("compliance",), resolution=resolution)
        done = await sandbox.status(call.id)
        assert (done.state, done.result) == ("completed", {"documents_status": status})
        assert (await sandbox.result("escalation.read", {"case_id": CASE}))["status"] == resolution


@pytest.mark.req("X24")
async def test_an_escalation_that_nobody_resolves_is_given_up_after_two_reminders(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        call = await sandbox.call("kyc.request_additional_information", ASKED)
        await sandbox.advance("P14D")
        await sandbox.advance("P5D")
        assert (await sandbox.status(call.id)).result == {"documents_status": "escalated"}
        found = await sandbox.result("escalation.read", {"case_id": CASE})
        assert (found["status"], found["reminders"]) == ("given-up", 2)


@pytest.mark.req("X24")
@pytest.mark.parametrize("is_late", [False, True], ids=["the seniors decide", "the reporting officer decides"])
async def test_a_review_that_expired_is_decided_above(kyc: Path, store_url: str, is_late: bool) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        package = {"case_id": CASE, "review_package": {"summary": "a client like others"}}
        call = await escalated(sandbox, "kyc.await-compliance-review", package)
        if is_late:
            await sandbox.advance("P3D")
        group = "mlro" if is_late else "senior-compliance"
        await answer(sandbox, "sam", (group,), decision="approved", reason="known for years")
        done = await sandbox.status(call.id)
        assert (done.state, done.result) == (
            "completed", {"case_id": CASE, "decision": "approved", "reason": "known for years"},
        )  # fmt: skip
        assert (await sandbox.result("compliance.read-review", {"case_id": CASE}))["officer"] == "senior-compliance"
        assert await sandbox.tasks.list() == []
