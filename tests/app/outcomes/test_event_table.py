"""The table of outcome events: every entry of both machines is decided upon, and the page is that of the code."""

from __future__ import annotations

from collections import Counter
from typing import get_args

import pytest

from perdure.app.outcomes.event_table import EVENTS, SILENT, Word
from perdure.app.outcomes.instance_projection import GIVES as OF_INSTANCES
from perdure.app.outcomes.runbook_projection import GIVES as OF_RUNBOOKS
from perdure.bpmn.machine.journal_entries import Entry as InstanceEntry
from perdure.runbooks.machine.journal_entries import Entry as RunbookEntry
from tests.app.outcomes import page

KNOWN = {f"instance.{each.__name__}" for each in get_args(InstanceEntry)} | {
    f"runbook.{each.__name__}" for each in get_args(RunbookEntry)
}
GIVING = {name for row in EVENTS.values() for name in row.entries}


def test_every_word_has_its_row() -> None:
    assert list(EVENTS) == list(get_args(Word))


def test_every_entry_gives_events_or_is_silent_for_a_reason() -> None:
    silent = Counter(name for names in SILENT.values() for name in names)
    assert max(silent.values()) == 1
    assert not GIVING & set(silent), "an entry is one or the other"
    assert GIVING | set(silent) == KNOWN


def test_the_projections_read_the_entries_that_the_table_names() -> None:
    read = {f"instance.{each.__name__}" for each in OF_INSTANCES} | {f"runbook.{each.__name__}" for each in OF_RUNBOOKS}
    assert read == GIVING


@pytest.mark.req("P9")
def test_the_page_shows_the_table_of_the_code() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.written(), "run: python -m tests.app.outcomes.page"
