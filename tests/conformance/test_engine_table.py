"""The page of engine conformance counts the scenarios there are."""

from __future__ import annotations

import re

from tests.conformance.engine_table import PAGE, groups

ROW = re.compile(r"^\| ([a-z-]+) \|((?: \d+ / \d+ \|)+)$", re.MULTILINE)


def test_the_page_counts_every_group_of_scenarios() -> None:
    rows = dict(ROW.findall(PAGE.read_text(encoding="utf-8")))
    counted = {group: {int(cell.split("/")[1]) for cell in row.strip(" |").split("|")} for group, row in rows.items()}
    assert counted == {group: {count} for group, count in groups().items()}
