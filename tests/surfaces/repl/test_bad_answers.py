"""What is said to bad answers: every message in full, in the table `answers.txt`."""

from __future__ import annotations

import pytest

from tests.surfaces.repl.answers import CASES, FORM, TABLE, said_to

KEPT = {title: (lines, message) for title, lines, message in FORM.findall(TABLE.read_text("utf-8"))}

pytestmark = pytest.mark.req("V28")


@pytest.mark.parametrize(("title", "lines"), CASES, ids=[title for title, _ in CASES])
def test_a_bad_answer_is_told_what_is_wrong_and_what_to_do(title: str, lines: tuple[str, ...]) -> None:
    kept_lines, message = KEPT[title]
    assert kept_lines == "".join(f"> {line}\n" for line in lines)
    assert said_to(lines) == message.removesuffix("\n")


def test_the_table_has_no_other_answers() -> None:
    assert list(KEPT) == [title for title, _ in CASES]
