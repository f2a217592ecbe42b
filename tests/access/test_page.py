"""The page about security says what the table of operations says."""

from __future__ import annotations

import pytest

from tests.access.page import PAGE, written


@pytest.mark.req("P3", "P9")
def test_the_operations_on_the_page_are_those_of_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == written(), "run: python -m tests.access.page"
