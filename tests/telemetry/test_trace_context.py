"""Trace contexts: what is accepted from outside, and ids that are the same wherever they are derived."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.telemetry import TraceContext, derived_trace_id, parse_traceparent, span_id, traceparent
from perdure.telemetry.trace_context import is_kept

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
hexes = st.text(string.hexdigits.lower()[:16], min_size=1)


@pytest.mark.req("X22")
@pytest.mark.parametrize(
    ("text", "context"),
    [
        (f"00-{TRACE}-{SPAN}-01", TraceContext(TRACE, SPAN, True)),
        (f"00-{TRACE}-{SPAN}-00", TraceContext(TRACE, SPAN, False)),
        (f" 00-{TRACE.upper()}-{SPAN}-03 ", TraceContext(TRACE, SPAN, True)),
        (f"01-{TRACE}-{SPAN}-01-what-the-future-adds", TraceContext(TRACE, SPAN, True)),
        (f"00-{TRACE}-{SPAN}-01-what-may-not-be", None),
        (f"ff-{TRACE}-{SPAN}-01", None),
        (f"00-{'0' * 32}-{SPAN}-01", None),
        (f"00-{TRACE}-{'0' * 16}-01", None),
        (f"00-{TRACE[1:]}-{SPAN}-01", None),
        ("trace-1", None),
        ("", None),
        ("0" * 10_000, None),
    ],
)
def test_a_traceparent_is_read_as_the_standard_says(text: str, context: TraceContext | None) -> None:
    assert parse_traceparent(text) == context


@given(st.text(max_size=200))
def test_whatever_arrives_is_a_context_or_nothing(text: str) -> None:
    found = parse_traceparent(text)
    assert found is None or parse_traceparent(traceparent(found)) == found


@pytest.mark.req("X22")
def test_ids_are_the_same_in_every_process_and_release() -> None:
    assert derived_trace_id("01k5zzzzzzzzzzzzzzzzzzzzzz") == "b3026b96afe6f79786911323ea81e956"
    assert span_id("attempt", "01k5zzzzzzzzzzzzzzzzzzzzzz:1", 1) == "d4eebc4e3fe80c01"


@given(st.lists(st.tuples(st.text(), st.integers()), min_size=2, max_size=20, unique=True))
def test_different_things_have_different_spans(things: list[tuple[str, int]]) -> None:
    parted = [thing for thing in things if "\0" not in thing[0]]
    assert len({span_id("wait", *thing) for thing in parted}) == len(parted)


def test_of_many_traces_the_part_asked_for_is_kept_and_a_larger_part_keeps_them_too() -> None:
    traces = [derived_trace_id(str(number)) for number in range(2000)]
    kept = {trace for trace in traces if is_kept(trace, 0.25)}
    assert 400 < len(kept) < 600
    assert kept <= {trace for trace in traces if is_kept(trace, 0.5)}
    assert not any(is_kept(trace, 0.0) for trace in traces) and all(is_kept(trace, 1.0) for trace in traces)
