"""Every error code has its line in the reference, and every line still has its code."""

from __future__ import annotations

import re

from perdure import errors
from tests.house.tree import ROOT

PAGE = ROOT / "docs" / "reference" / "errors.md"


def codes_of(kind: type[errors.PerdureError]) -> set[str]:
    own = {kind.code} if kind.__module__ == errors.__name__ else set()
    return own.union(*(codes_of(child) for child in kind.__subclasses__()))


def documented() -> set[str]:
    return set(re.findall(r"^\| `([a-z_.]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))


def test_every_error_code_is_documented_and_no_other() -> None:
    assert documented() == codes_of(errors.PerdureError) | set(errors.EDGE_CODES)


def test_every_error_class_has_a_code_of_its_own() -> None:
    classes = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    raised = [kind for kind in classes if issubclass(kind, errors.PerdureError)]
    assert len({kind.code for kind in raised}) == len(raised)


def test_the_edge_codes_on_the_page_are_the_ones_in_use() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for code, edge in errors.EDGE_CODES.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{code}` |"))
        numbers = [int(cell) for cell in re.findall(r"\| (-?\d+) (?=\|)", row)]
        assert numbers == [edge.http_status, edge.exit_code, edge.mcp_error]
