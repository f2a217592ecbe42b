"""People do without a document, for a reason that the journal keeps; four eyes where its type asks for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.errors import RejectedError
from tests.documents.papers import opened
from tests.lifecycles.onboarding import ME, letters_of, lifecycles_of, state_of, written

LIFECYCLE = """
lifecycle: papers
states:
  OPEN:
    requirements:
      - {type: document_exists, document_type: TYPE}
  DONE: {}
  END: {terminal: true}
transitions:
  - {from: OPEN, to: DONE}
  - {from: DONE, to: END, manual: true}
"""


@pytest.mark.both_stores
@pytest.mark.req("T7")
async def test_a_waiver_stands_for_the_document_and_says_why(store_url: str, tmp_path: Path) -> None:
    file = written(tmp_path, LIFECYCLE.replace("TYPE", "form"))
    async with opened(store_url, tmp_path, lifecycles=[file]) as perdure:
        case = (await lifecycles_of(perdure).start("papers", "anna", {}, ME)).aggregate.id
        with pytest.raises(RejectedError, match="needs a reason"):
            await perdure.documents.waive("form", "anna", "  ")
        waived = await perdure.documents.waive("form", "anna", "listed company", valid_to="2026-03-01")
        assert (waived.status, waived.versions[0].source) == ("verified", "waiver")
        assert (await perdure.documents.waive("form", "anna", "listed company")).id == waived.id
        await perdure.run_until_idle()
        assert (await state_of(perdure, case)).state == "DONE"
        assert (await perdure.documents.content(waived.id, 1)).data == {"waiver": "listed company"}
        entries = [each.entry for each in await perdure.documents.events(waived.id)]
        assert entries[:3] == ["DocumentCreated", "VersionReceived", "VersionVerified"]
        await perdure.advance("P90D")
        assert (await perdure.documents.get(waived.id)).status == "expired"
        assert letters_of(case)


@pytest.mark.req("T7")
@pytest.mark.req("V36")
async def test_a_waiver_under_four_eyes_takes_two_of_the_group(tmp_path: Path) -> None:
    file = written(tmp_path, LIFECYCLE.replace("TYPE", "passport"))
    async with opened("sqlite://", tmp_path, lifecycles=[file]) as perdure:
        case = (await lifecycles_of(perdure).start("papers", "anna", {}, ME)).aggregate.id
        clara = perdure.acting(principal="clara", groups=["compliance"])
        maid = perdure.acting(principal="maid", groups=["compliance"], behind=["clara"])
        clive = perdure.acting(principal="clive", groups=["compliance"])
        for stranger in (perdure, perdure.acting(principal="agent:bot", groups=["compliance"])):
            with pytest.raises(RejectedError, match=r"groups|agent"):
                await stranger.documents.waive("passport", "anna", "why not")
        for who in (clara, clara, maid):
            assert (await who.documents.waive("passport", "anna", "known for years")).status == "pending"
        await perdure.run_until_idle()
        assert (await state_of(perdure, case)).state == "OPEN"
        waived = await clive.documents.waive("passport", "anna", "agreed")
        assert (waived.status, waived.versions[0].received_by, waived.versions[0].decided_by) == (
            "verified", "clara", "clive",
        )  # fmt: skip
        await perdure.run_until_idle()
        assert (await state_of(perdure, case)).state == "DONE"
        with pytest.raises(RejectedError, match="waive"):
            await perdure.documents.create("form", "boris", data={"title": "x"}, source="waiver")
        call = await clara.call(
            "document.waive", {"subject_entity_id": "boris", "document_type": "passport", "reason": "quick"}
        )
        assert call.state == "failed" and call.error is not None and "people alone" in call.error.message


@pytest.mark.req("T7")
async def test_a_waiver_ends_the_call_that_asked_for_the_document(tmp_path: Path) -> None:
    async with opened("sqlite://", tmp_path) as perdure:
        asked = await perdure.call("document.solicit", {"subject_entity_id": "anna", "document_type": "form"})
        cid = f"{asked.id}:document.solicit:1:1"
        await perdure.call(
            "document.waive",
            {"subject_entity_id": "anna", "document_type": "form", "reason": "not needed", "correlation_id": cid},
        )
        await perdure.run_until_idle()
        assert (await perdure.status(asked.id)).state == "completed"
