"""Months and years are those of the calendar in UTC: no day drifts, none is skipped."""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perdure.durations import DAY, Span, later, next_after

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOMENTS = st.integers(0, 200 * 366 * DAY)
SPANS = st.builds(Span, st.integers(0, 60), st.integers(0, 40 * DAY)).filter(any)


def date(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)


def micros(text: str) -> int:
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1)


@pytest.mark.req("V21")
@given(MOMENTS, st.integers(1, 1200))
@example(micros("2026-01-31T00:00:00Z"), 1)
@example(micros("2024-02-29T12:00:00Z"), 12)
def test_so_many_months_later_is_the_same_day_and_time_or_the_last_of_the_month(moment: int, months: int) -> None:
    before, after = date(moment), date(later(moment, Span(months, 0)))
    assert (after.year * 12 + after.month) - (before.year * 12 + before.month) == months
    assert after.day == min(before.day, monthrange(after.year, after.month)[1])
    assert after.timetz() == before.timetz()


@given(MOMENTS, SPANS, st.integers(1, 50))
def test_several_spans_are_counted_from_where_they_began(moment: int, span: Span, times: int) -> None:
    assert later(moment, span, times) == later(moment, Span(span.months * times, span.micros * times))
    assert later(moment, Span(span.months, 0), times) + times * span.micros == later(moment, span, times)


@given(MOMENTS, SPANS.filter(lambda span: span.months or span.micros > 1000), st.integers(-DAY, 4000 * DAY))
def test_the_next_time_is_the_first_that_follows(anchor: int, span: Span, passed: int) -> None:
    found = next_after(anchor, span, anchor + passed)
    assert found > anchor + passed
    times = next(n for n in _counts(anchor, span, found) if later(anchor, span, n) == found)
    assert times == 1 or later(anchor, span, times - 1) <= anchor + passed


def _counts(anchor: int, span: Span, found: int) -> range:
    shortest, longest = span.months * 28 * DAY + span.micros, span.months * 31 * DAY + span.micros
    return range(max(1, (found - anchor) // longest), (found - anchor) // shortest + 2)


def test_the_calendar_goes_on_after_the_year_9999() -> None:
    last = micros("9999-12-31T00:00:00Z")
    assert later(last, Span(1, 0)) == last + 31 * DAY
    assert later(last, Span(2, 0)) == last + 60 * DAY, "10000 is a leap year"
    assert later(last + 31 * DAY, Span(11, 0)) == last + 366 * DAY
