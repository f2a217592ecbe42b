"""The page of engine conformance counts the scenarios there are."""

from __future__ import annotations

from tests.conformance.engine_table import PAGE, column_of, columns_of, groups, page_of


def test_the_page_counts_every_group_of_scenarios() -> None:
    for name, column in columns_of(PAGE.read_text(encoding="utf-8")).items():
        assert {group: sum(each) for group, each in column.counts.items()} == dict(groups()), name


def test_columns_that_are_not_made_again_stay_as_the_page_has_them() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page_of(columns_of(page)) == page


def test_what_is_refused_or_was_not_played_does_not_pass() -> None:
    made = column_of([
        ("timer-event/one", "held", []), ("timer-event/two", "refused", ["PRT101"]),
        ("timer-event/three", "refused", ["PRT101"]), ("timer-event/four", "skipped", ["it lacks something"]),
    ])  # fmt: skip
    assert made.counts["timer-event"] == (1, 2, 1)
    assert made.reasons == [
        ("2 cases", "refused", "PRT101"), ("timer-event/four", "failed", "it lacks something"),
    ]  # fmt: skip
