"""Whatever is said, the conversation answers, stays within the terminal and keeps a plan that makes sense."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.runbooks.drafts.draft import Draft
from perdure.surfaces.repl.command_parser import FORMS, parse_command
from perdure.surfaces.repl.word_completion import complete
from tests.surfaces.repl.driver import Talk
from tests.surfaces.repl.pages import MARK, PAGE, reference

WORDS = ["", *(Path(__file__).parent / "words.txt").read_text(encoding="utf-8").splitlines()]


@pytest.mark.req("V28")
@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=30), max_size=25))
def test_any_words_in_any_order_are_answered(lines: list[str]) -> None:
    talk = Talk()
    for line in lines:
        said = talk.tell(line)
        assert all(len(shown) <= 80 for shown in said.splitlines() if shown.isascii() and not shown.startswith("("))
        draft = talk.session.draft
        names = [entry.name for entry in draft.entries]
        assert len(set(names)) == len(names)
        for place, entry in enumerate(draft.entries):
            assert set(entry.takes()) <= set(names[:place])
        assert msgspec.json.decode(msgspec.json.encode(draft), type=Draft) == draft
        complete(talk.session, line, talk.knowledge)
    # Whatever runs was confirmed.
    for plan in talk.desk.plans.values():
        assert plan.steps


def test_every_command_has_words_that_say_it() -> None:
    from perdure.surfaces.repl.commands import _ACTS  # noqa: PLC0415

    assert {form.name for form in FORMS} == set(_ACTS)


def test_the_random_words_say_every_command() -> None:
    said = {command.name for line in WORDS if (command := parse_command(line)) is not None}
    assert said == {form.name for form in FORMS}


def test_every_command_is_on_the_reference_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.partition(MARK)[2].strip() == reference().strip(), "run python -m tests.surfaces.repl.pages"
