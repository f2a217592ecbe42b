"""The page of codes is true: its examples are those the tests prove."""

from __future__ import annotations

import re

import pytest

from perdure.bpmn.proof import CODES
from tests.bpmn.proof.pages import PAGE, written


@pytest.mark.req("P9")
def test_the_page_is_what_the_cases_say() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page), "run: python -m tests.bpmn.proof.pages"


@pytest.mark.req("P9")
def test_every_code_is_in_the_table_with_its_severity() -> None:
    rows = re.findall(r"^\| `(SND\d+)` \| .* \| (\w+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert dict(rows) == {code: severity for code, (_, severity) in CODES.items()}
