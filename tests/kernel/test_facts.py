"""Keys of facts: nothing that a subject is called can reach another fact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.journal.facts import fact_key, fact_kind, fact_notice, fact_parts, fact_rows
from perdure.journal.notice_routes import FactRoute, read_route, route_body


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_parts_of_a_key_come_back_whatever_they_hold(parts: list[str]) -> None:
    key = fact_key("document", *parts)
    assert fact_parts(key) == parts
    assert fact_kind(key) == "document"
    assert key.isascii()


@pytest.mark.parametrize(("subject", "type"), [("a/b", "c"), ("a", "b/c"), ("a%2Fb", "c")])
def test_two_subjects_never_share_a_key(subject: str, type: str) -> None:
    assert fact_key("document", subject, type) != fact_key("document", "a/b/c", "")
    assert len(fact_key("document", subject, type).split("/")) == 3


def test_a_notice_names_the_facts_that_changed() -> None:
    notice = fact_notice("01ABC", 3, [fact_key("document", "s", "passport")])
    assert notice.message_id == "perdure:01ABC/facts/3"
    assert read_route(notice.kind, notice.message_id, route_body(notice.route)) == FactRoute(("document/s/passport",))


def test_rows_of_interest_are_found_by_kind_and_key() -> None:
    rows = fact_rows(["document/s/passport", "lifecycle/kyc/s"])
    assert [(row.kind, row.name, row.key, row.token) for row in rows] == [
        ("fact", "document", "document/s/passport", 1),
        ("fact", "lifecycle", "lifecycle/kyc/s", 2),
    ]
