"""Every rule has its page and its pictures, and the pages say what the rules say."""

from __future__ import annotations

import re

import pytest

from perdure.bpmn.lint.rule import Rule
from perdure.bpmn.lint.rules import RULES
from tests.bpmn.lint import pages
from tests.house.tree import ROOT

REFRESH = "run: python -m tests.bpmn.lint.pages"


@pytest.mark.req("P9")
@pytest.mark.parametrize("rule", RULES, ids=[rule.CODE for rule in RULES])
def test_the_page_of_a_rule_is_that_of_the_code(rule: Rule) -> None:
    assert (pages.FOLDER / f"{rule.CODE}.md").read_text(encoding="utf-8") == pages.page(rule), REFRESH
    for side in ("wrong", "right"):
        assert (pages.FOLDER / f"{rule.CODE}-{side}.svg").read_text(encoding="utf-8").startswith("<svg"), REFRESH


@pytest.mark.req("P9")
def test_the_list_of_codes_is_complete() -> None:
    assert pages.INDEX.read_text(encoding="utf-8") == pages.index(), REFRESH
    written = {file.stem for file in pages.FOLDER.glob("*.md")}
    assert written == {rule.CODE for rule in RULES}, REFRESH


@pytest.mark.req("P9")
def test_every_code_of_reading_is_on_the_list() -> None:
    sources = (ROOT / "src" / "perdure" / "bpmn" / "xml").rglob("*.py")
    used = {code for file in sources for code in re.findall(r'"(BPM\d{3})"', file.read_text(encoding="utf-8"))}
    assert used == set(pages.READING)


def test_a_wrong_picture_shows_what_was_found() -> None:
    assert "HOL001" in pages.picture("HOL001", "wrong")
    assert "HOL001" not in pages.picture("HOL001", "right")
