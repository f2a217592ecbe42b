"""The reference of compliance documents is written from their structs."""

from __future__ import annotations

import msgspec

from perdure.app.compliance_export import document
from perdure.app.compliance_export.evidence_collection import MAX_BYTES, MAX_CHAINS, MAX_RECORDS
from tests.app.compliance_export.reference import MEANINGS, PAGE, page


def test_the_page_is_what_the_structs_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.app.compliance_export.reference"


def test_no_meaning_is_left_over() -> None:
    structs = [each for each in vars(document).values() if isinstance(each, type) and issubclass(each, document.Part)]
    assert {field.name for each in structs for field in msgspec.structs.fields(each)} == set(MEANINGS)


def test_the_guide_states_the_limits() -> None:
    guide = (PAGE.parents[1] / "how-to" / "compliance-export.md").read_text(encoding="utf-8")
    for words in (f"{MAX_CHAINS:,} calls", f"{MAX_RECORDS:,} journal", f"{MAX_BYTES // 2**20} MiB"):
        assert words in guide
