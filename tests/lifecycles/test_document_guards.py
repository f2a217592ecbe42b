"""A verified document moves the cases that waited for it, and nobody else; one that expires closes the guard again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents.papers import opened
from tests.lifecycles.onboarding import ME, lifecycles_of, state_of, written

LIFECYCLE = """
lifecycle: papers
states:
  OPEN:
    requirements:
      - {type: document_exists, document_type: form, status: verified}
  HELD:
    requirements:
      - {not: {type: document_exists, document_type: form, status: verified}, id: evidence}
  DONE: {terminal: true}
transitions:
  - {from: OPEN, to: HELD}
  - {from: HELD, to: OPEN}
  - {from: [OPEN, HELD], to: DONE, manual: true}
"""
OTHER = LIFECYCLE.replace("lifecycle: papers", "lifecycle: more_papers")


@pytest.mark.both_stores
@pytest.mark.req("T5")
@pytest.mark.req("T9")
async def test_a_verified_document_moves_every_case_that_waited_for_it_until_it_expires(
    store_url: str, tmp_path: Path
) -> None:
    files = [written(tmp_path, LIFECYCLE), written(tmp_path, OTHER, "more.yaml")]
    async with opened(store_url, tmp_path, lifecycles=files) as sandbox:
        lifecycles = lifecycles_of(sandbox)
        cases = [
            (await lifecycles.start(name, subject, {}, ME)).aggregate.id
            for name, subject in (("papers", "anna/1"), ("more_papers", "anna/1"), ("papers", "anna"))
        ]
        made = await sandbox.documents.create("form", "anna/1", data={"title": "x"}, valid_to="2026-02-01")
        await sandbox.run_until_idle()
        assert [(await state_of(sandbox, each)).state for each in cases] == ["OPEN", "OPEN", "OPEN"]
        stranger = (await state_of(sandbox, cases[2])).round
        await sandbox.documents.verify(made.id, 1)
        await sandbox.run_until_idle()
        assert [(await state_of(sandbox, each)).state for each in cases] == ["HELD", "HELD", "OPEN"]
        assert (await state_of(sandbox, cases[2])).round == stranger
        await sandbox.advance("P60D")
        first = await state_of(sandbox, cases[0])
        assert [each.target for each in first.history] == ["OPEN", "HELD", "OPEN"]
        assert first.blocked[0].missing == ("document 'form' is expired, not verified",)
