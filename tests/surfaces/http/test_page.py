"""The page about the API says what the server says."""

from __future__ import annotations

import pytest

from tests.surfaces.http_reference import MARK, PAGE, description, reference


@pytest.mark.req("P2")
async def test_the_page_is_that_of_the_description() -> None:
    written = PAGE.read_text(encoding="utf-8").partition(MARK)[2].strip()
    assert written == reference(await description()).strip(), "Run `python -m tests.surfaces.http_reference`."
