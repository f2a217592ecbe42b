"""Documents written earlier still verify: whoever changes the telling gives the format a new number."""

from __future__ import annotations

import pytest

from perdure.app.compliance_export import check_document
from tests.app.compliance_export.kept_documents import FOLDER, NUMBER


@pytest.mark.req("V30")
@pytest.mark.parametrize("number", range(1, int(NUMBER) + 1))
@pytest.mark.parametrize("name", ["carried-{}.json", "escalated-{}.json", "escalated-{}.html"])
def test_a_kept_document_is_still_what_its_records_say(name: str, number: int) -> None:
    verdict = check_document((FOLDER / name.format(number)).read_bytes(), require_sealed=True)
    assert verdict.findings == []
    assert verdict.records > 0
