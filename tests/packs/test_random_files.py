"""Whatever a pack file holds, it loads or every problem has a place."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.errors import DefinitionError
from perdure.packs.lint import lint_pack
from perdure.packs.loader import load_pack_text
from perdure.packs.placeholders import PlaceholderFault, fill, parse_template
from tests.packs.sample_pack import PACK, catalogue

LINES = PACK.splitlines()
PIECES = [
    "",
    "x",
    "{",
    "}",
    "- a",
    "null",
    "[]",
    "{}",
    "answers.x is set",
    "{answers.x}",
    '"',
    "1",
    "true",
    "- {verb: a}",
    "  ",
]


@settings(deadline=None, max_examples=200)
@given(st.integers(0, len(LINES) - 1), st.integers(0, 120), st.integers(0, 40), st.sampled_from(PIECES))
def test_a_damaged_pack_is_told_and_never_crashes(line: int, start: int, length: int, piece: str) -> None:
    text = LINES[line]
    changed = [*LINES[:line], text[:start] + piece + text[start + length :], *LINES[line + 1 :]]
    try:
        pack = load_pack_text("\n".join(changed), "p.yaml")
    except DefinitionError as error:
        assert all(1 <= problem.line <= len(LINES) + 2 and problem.reason for problem in error.problems)
    else:
        assert all(problem.code.startswith("PACK") for problem in lint_pack(pack, catalogue()))


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="{}answer.itmcox| 'defaulcounj,", max_size=40))
def test_any_text_is_a_template_or_refused(text: str) -> None:
    try:
        parse_template(text)
    except PlaceholderFault:
        return
    fill(text, {"answers": {}, "context": {}, "item": None})
