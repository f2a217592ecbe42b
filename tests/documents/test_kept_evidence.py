"""Evidence lives as long as a case needs it: retention is counted anew while a lifecycle that asks for it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.app.audit.store_audit import verify_store
from perdure.testing import Sandbox
from perdure.verbs import load_text
from tests.lifecycles.onboarding import written

DEFINITIONS = "documents: {form: {data_schema: {properties: {title: {type: string}}}, retention: P3D}}"
LIFECYCLE = """
lifecycle: papers
states:
  OPEN:
    requirements: [{type: document_exists, document_type: form}]
  REVIEW:
  DONE: {terminal: true}
transitions:
  - {from: OPEN, to: REVIEW}
  - {from: REVIEW, to: DONE, manual: true}
"""


@pytest.mark.both_stores
@pytest.mark.req("T6", "T11")
async def test_evidence_is_not_erased_while_a_case_needs_it(store_url: str, tmp_path: Path) -> None:
    async with Sandbox.open(
        store_url, definitions=load_text(DEFINITIONS), lifecycles=[written(tmp_path, LIFECYCLE)],
        blobs=tmp_path / "blobs",
    ) as perdure:  # fmt: skip
        id = (await perdure.lifecycles.start("papers", "anna")).instance.id
        made = await perdure.documents.create("form", "anna", data={"title": "seen"}, valid_to="2026-01-03")
        other = await perdure.documents.create("form", "bert", data={"title": "nobody's"}, valid_to="2026-01-03")
        await perdure.documents.verify(made.id, 1)
        await perdure.run_until_idle()
        assert (await perdure.lifecycles.get(id)).state == "REVIEW"
        await perdure.advance("P30D")
        assert (await perdure.documents.get(other.id)).erased_at, "no case needs that one"
        held = await perdure.documents.get(made.id)
        assert (held.status, held.erased_at) == ("expired", None)
        assert (await perdure.documents.content(made.id, 1)).data == {"title": "seen"}
        await perdure.lifecycles.transit(id, "DONE")
        assert (await verify_store(perdure, {})).findings == []
        await perdure.advance("P4D")
        assert (await perdure.documents.get(made.id)).erased_at
        entries = [each.entry for each in await perdure.documents.events(made.id)]
        assert entries.count("RetentionRestarted") > 5 and entries[-1] == "DocumentErased"
