"""The lifecycles of the KYC example: one client's papers, from registration to the review a year later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from perdure.app.configuration.project import load_config
from perdure.testing import Sandbox


async def newest(perdure: Sandbox, lifecycle: str, subject: str = "nordlys") -> Any:
    await perdure.run_until_idle()
    found = await perdure.lifecycles.list(lifecycle, subject=subject)
    return await perdure.lifecycles.get(found[0].id) if found else None


async def hand_in(perdure: Sandbox, status: Any, type: str, **data: str) -> str:
    """A paper comes for the request that is open."""
    (task,) = [each for each in status.tasks if each.key == type and each.status == "pending"]
    portal = perdure.acting(principal="portal")
    made = await portal.documents.create(type, "nordlys", data=data, correlation_id=task.correlation_id)
    await perdure.run_until_idle()
    return made.id


@pytest.mark.both_stores
@pytest.mark.req("T15")
@pytest.mark.req("T2")
@pytest.mark.req("T11")
async def test_a_client_is_asked_rejected_asked_again_approved_and_reviewed_a_year_later(
    kyc: Path, store_url: str
) -> None:
    async with Sandbox.from_config(load_config(kyc / "perdure.yaml"), url=store_url) as perdure:
        officer = perdure.acting(principal="rita", groups=["compliance"])
        await perdure.call("client.register", {"id": "nordlys", "name": "Nordlys Capital", "client_type": "fund"})
        status = await newest(perdure, "kyc_onboarding")
        assert (status.state, status.started_by, status.history[0].reason) == (
            "DOCUMENT_COLLECTION", "perdure", "client.created",
        )  # fmt: skip
        assert [(each.key, each.missing) for each in status.blockers] == [
            ("passport", ["no document 'passport'"]), ("register_extract", ["no document 'register_extract'"]),
        ]  # fmt: skip

        blurred = await hand_in(perdure, status, "passport", name="Ingrid Solberg")
        await officer.documents.reject(blurred, 1, "BLURRED")
        status = await newest(perdure, "kyc_onboarding")
        assert [(each.key, each.attempt, each.status) for each in status.tasks] == [
            ("passport", 1, "completed"), ("register_extract", 1, "pending"), ("passport", 2, "pending"),
        ]  # fmt: skip
        assert status.blockers[0].missing == ["document 'passport' is rejected (BLURRED), not verified"]

        for type, data in (("passport", {"name": "Ingrid Solberg"}), ("register_extract", {"number": "987"})):
            paper = await hand_in(perdure, status, type, **data)
            await officer.documents.verify(paper, 1)
        status = await newest(perdure, "kyc_onboarding")
        assert (status.state, [each.key for each in status.blockers]) == ("REVIEW", ["->DOCUMENT_COLLECTION"])
        await officer.lifecycles.transit(status.id, "APPROVED", reason="all in order")
        assert (await newest(perdure, "periodic_review")).state == "CURRENT"

        await perdure.advance("P366D")
        review = await newest(perdure, "periodic_review")
        assert _plain(review) == WHOLE
        extract = await hand_in(perdure, review, "register_extract", number="988")
        await officer.documents.verify(extract, 1)
        review = await newest(perdure, "periodic_review")
        assert review.state == "SIGN_OFF"
        await officer.lifecycles.transit(review.id, "CURRENT", reason="nothing material changed")
        review = await newest(perdure, "periodic_review")
        assert [each.target for each in review.history] == ["CURRENT", "DATA_REFRESH", "SIGN_OFF", "CURRENT"]
        asked = await perdure.call("client.list-requests", {"client": "nordlys"})
        assert [each["document_type"] for each in asked.result["records"]].count("passport") == 2


async def test_a_client_on_the_screening_list_waits_for_compliance_and_a_person_needs_none(kyc: Path) -> None:
    async with Sandbox.from_config(load_config(kyc / "perdure.yaml")) as perdure:
        for id, name, kind in (("strand", "Mikael Strand", "trust"), ("ana", "Ana Lund", "person")):
            await perdure.call("client.register", {"id": id, "name": name, "client_type": kind})
        status = await newest(perdure, "kyc_onboarding", "strand")
        assert (status.state, status.blockers[0].missing) == ("INTAKE", ["Deputy minister until 2024"])
        assert await newest(perdure, "kyc_onboarding", "ana") is None
        officer = perdure.acting(principal="rita", groups=["compliance"])
        await officer.lifecycles.transit(status.id, "REJECTED", reason="the hit is real")


def _plain(status: Any) -> dict[str, Any]:
    """The whole status without what differs from run to run: ids and times."""
    told: dict[str, Any] = msgspec.to_builtins(status)
    times = ("id", "started_at", "entered_at", "ended_at", "created_at", "expires_at", "at", "due", "sequence")
    return {name: _without(each, times, told["id"]) for name, each in told.items() if name not in times}


def _without(value: Any, names: tuple[str, ...], id: str) -> Any:
    if isinstance(value, dict):
        return {name: _without(each, names, id) for name, each in value.items() if name not in names}
    if isinstance(value, list):
        return [_without(each, names, id) for each in value]
    return value.replace(id, "ID") if isinstance(value, str) else value


WHOLE: dict[str, Any] = {
    "lifecycle": "periodic_review",
    "version": 1,
    "subject": "nordlys",
    "state": "DATA_REFRESH",
    "description": "Evidence expired and is asked for again",
    "status": "active",
    "progress": 67,
    "is_overdue": False,
    "started_by": "perdure",
    "blockers": [
        {
            "key": "register_extract",
            "type": "MissingDocument",
            "description": "Extract of the commercial register, of this year",
            "missing": ["document 'register_extract' is expired, not verified"],
            "resolution": {
                "verb": "client.ask-for-paper",
                "args": {"client": "nordlys", "document_type": "register_extract"},
                "text": '(client.ask-for-paper :client "nordlys" :document-type "register_extract")',
            },
            "is_automatic": True,
            "attempts": 1,
            "max_attempts": 3,
            "reason": "",
        }
    ],
    "requirements": [
        {
            "key": "passport",
            "type": "document_exists",
            "description": "Passport of a director",
            "is_met": True,
            "missing": [],
        },
        {
            "key": "register_extract",
            "type": "document_exists",
            "description": "Extract of the commercial register, of this year",
            "is_met": False,
            "missing": ["document 'register_extract' is expired, not verified"],
        },
    ],
    "transitions": [
        {
            "target": "SIGN_OFF",
            "mode": "auto",
            "description": "All evidence is valid again",
            "is_open": False,
            "missing": ["document 'register_extract' is expired, not verified"],
            "role": "",
            "needs_reason": False,
            "four_eyes": False,
            "proposed_by": "",
        },
        {
            "target": "ENDED",
            "mode": "time",
            "description": "The client does not answer",
            "is_open": True,
            "missing": [],
            "role": "",
            "needs_reason": False,
            "four_eyes": False,
            "proposed_by": "",
        },
    ],
    "actions": [],
    "tasks": [
        {
            "correlation_id": "ID:MissingDocument:register_extract:1",
            "key": "register_extract",
            "blocker": "MissingDocument",
            "verb": "client.ask-for-paper",
            "status": "pending",
            "attempt": 1,
            "by": "perdure",
            "expected": 1,
            "received": 0,
            "failed": 0,
            "cargo": [],
            "error": "",
            "number": 1,
            "deliveries": [],
        }
    ],
    "history": [
        {"source": "", "target": "CURRENT", "cause": "start", "by": "perdure", "reason": "lifecycle.completed"},
        {"source": "CURRENT", "target": "DATA_REFRESH", "cause": "auto", "by": "perdure", "reason": ""},
    ],
    "stuck": None,
    "migration": None,
    "incidents": [],
}
