"""The page about MCP says what the tools say."""

from __future__ import annotations

import re

import pytest

from perdure.errors import EDGE_CODES
from tests.surfaces.mcp.reference import MARK, PAGE, reference


@pytest.mark.req("P5", "P9")
def test_the_page_of_tools_is_what_they_say_of_themselves() -> None:
    _, found, after = PAGE.read_text(encoding="utf-8").partition(MARK)
    assert found
    assert after.strip() == reference().strip(), "run: python -m tests.surfaces.mcp.reference"


@pytest.mark.req("P5", "P9")
def test_the_page_tells_the_number_of_every_rejection() -> None:
    rows = re.findall(r"^\| `command\.(\w+)` \| (-\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert dict(rows) == {code: str(edge.mcp_error) for code, edge in EDGE_CODES.items()}
