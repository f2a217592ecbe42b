"""The verbs of the KYC example do their work on records, each by itself and without a process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from perdure.app.calls.views import CallView
from perdure.testing import Sandbox


class Desk:
    """Calls verbs and gives their results."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    async def ask(self, verb: str, **args: Any) -> CallView:
        return await self.sandbox.call(verb, args)

    async def get(self, verb: str, **args: Any) -> Any:
        view = await self.ask(verb, **args)
        assert view.state == "completed", view
        return view.result

    async def case(self, case_type: str = "periodic-review") -> str:
        made = await self.get("kyc.create-case-record", entity_ref="Allianz GmbH", case_type=case_type)
        case_id: str = made["case_id"]
        return case_id

    async def documents(self, case_id: str) -> dict[str, str]:
        found = await self.get("kyc.list-documents", case_id=case_id)
        return {each["document"]: each["status"] for each in found["records"]}


@asynccontextmanager
async def desk(kyc: Path) -> AsyncIterator[Desk]:
    async with Sandbox.open(definitions=kyc / "verbs", handlers=["casework"]) as sandbox:
        yield Desk(sandbox)


@pytest.mark.req("V26")
@pytest.mark.parametrize(("case_type", "risk"), [("periodic-review", "low"), ("event-driven", "high")])
async def test_a_case_is_rated_when_it_is_made(kyc: Path, case_type: str, risk: str) -> None:
    async with desk(kyc) as at:
        case = await at.get("kyc.read-case", case_id=await at.case(case_type))
        assert (case["risk"], case["status"], case["entity_ref"]) == (risk, "open", "Allianz GmbH")


async def test_documents_are_asked_for_received_and_withdrawn(kyc: Path) -> None:
    async with desk(kyc) as at:
        case_id = await at.case("event-driven")
        await at.get("kyc.request-documents", case_id=case_id, case_type="event-driven")
        assert await at.documents(case_id) == {"register-extract": "asked", "source-of-funds": "asked"}
        arrived = [{"document": "register-extract", "reference": "document://1"}, {"document": "pet", "reference": "x"}]
        got = await at.get("kyc.receive-documents", case_id=case_id, documents=arrived)
        assert got == {"received_documents": ["register-extract"]}
        assert await at.documents(case_id) == {"register-extract": "received", "source-of-funds": "asked"}
        undone = await at.get("kyc.cancel-document-request", case_id=case_id)
        assert undone == {"withdrawn_documents": ["register-extract", "source-of-funds"]}
        again = await at.get("kyc.cancel-document-request", case_id=case_id)
        assert again == {"withdrawn_documents": []}


async def test_reviewers_share_the_cases(kyc: Path) -> None:
    async with desk(kyc) as at:
        given = [(await at.get("kyc.assign-reviewer", case_id=await at.case()))["reviewer"] for _ in range(4)]
        assert given == ["rita", "omar", "rita", "omar"]


async def test_when_every_reviewer_is_busy_nobody_is_assigned(kyc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk(kyc) as at:
        cases = __import__("casework.cases").cases
        monkeypatch.setattr(cases, "CASES_PER_REVIEWER", 0)
        refused = await at.ask("kyc.assign-reviewer", case_id=await at.case())
        assert (refused.state, refused.error and refused.error.code) == ("failed", "NO_REVIEWER")


@pytest.mark.parametrize(
    ("case_type", "decision", "is_escalated"),
    [
        ("periodic-review", "approved", False),
        ("periodic-review", "rejected", False),
        ("periodic-review", None, True),
        ("event-driven", "approved", True),
        ("event-driven", "rejected", False),
    ],
)
async def test_a_senior_decides_what_is_late_and_signs_what_is_grave(
    kyc: Path, case_type: str, decision: str | None, is_escalated: bool
) -> None:
    async with desk(kyc) as at:
        decided = {} if decision is None else {"review_decision": decision}
        found = await at.get("kyc.escalate-if-required", case_id=await at.case(case_type), **decided)
        assert found == {"escalated": is_escalated}


async def test_what_was_uploaded_is_compared_with_what_was_asked_for(kyc: Path) -> None:
    async with desk(kyc) as at:
        fits = {"document_types": ["passport"], "received_documents": ["passport", "letter"]}
        assert await at.get("docs.validate", **fits) == {"documents_status": "received"}
        refused = await at.ask("docs.validate", document_types=["passport"], received_documents=[])
        assert refused.error and refused.error.code == "DOCUMENTS_INVALID"
