"""Flags, retries, tiers and durations mean the same to verbs, processes and machines."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.durations import DurationError, Span, parse_duration, parse_span
from perdure.errors import SchemaViolationError
from perdure.moments import parse_date_time
from perdure.sources import SECOND
from perdure.verb_contract import CONSEQUENCE_TIERS, FlagContract, RetryPolicy, check_flags, tier_rank

TEXT = FlagContract("orch_text", "string")
NUMBER = FlagContract("orch_number", "integer")
SWITCH = FlagContract("orch_switch", "boolean")
CHOICE = FlagContract("orch_choice", "enum", values=("pending", "approved"), initial="pending")
SPAN = FlagContract("orch_span", "string", format="duration")
MOMENT = FlagContract("orch_moment", "string", format="date-time")


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        (TEXT, "anything"),
        (NUMBER, 2**53 - 1),
        (SWITCH, False),
        (CHOICE, "approved"),
        (SPAN, "P3D"),
        (SPAN, "P1Y"),
        (MOMENT, "2031-01-01T00:00:00+01:00[Europe/Berlin]"),
        (MOMENT, "2026-02-28T10:00:00Z"),
        (MOMENT, "2026-02-28T10:00:00.5+01:00"),
    ],
)
def test_a_flag_takes_what_its_contract_allows(flag: FlagContract, value: Any) -> None:
    flag.check(value)
    check_flags([flag], {flag.name: value})


@pytest.mark.req("V3")
@pytest.mark.parametrize(
    ("flag", "value", "says"),
    [
        (TEXT, 5, "5 is not text"),
        (TEXT, "x" * 1025, "at most 1024"),
        (NUMBER, True, "True is not an integer"),
        (NUMBER, 1.0, "1.0 is not an integer"),
        (NUMBER, 2**53, "largest exact JSON integer"),
        (SWITCH, 1, "1 is not true or false"),
        (SWITCH, "true", "'true' is not true or false"),
        (CHOICE, "aproved", "not one of pending, approved"),
        (CHOICE, ["approved"], "not one of"),
        (SPAN, "P1.5M", "not an ISO 8601 duration"),
        (SPAN, "P5001Y", "longer than 5,000 years"),
        (MOMENT, "2026-02-30T10:00:00Z", "not a date and time"),
        (MOMENT, "2026-02-28T10:00:00", "not a date and time with offset"),
    ],
)
def test_a_flag_refuses_what_its_contract_does_not_allow(flag: FlagContract, value: Any, says: str) -> None:
    with pytest.raises(SchemaViolationError) as caught:
        flag.check(value)
    assert str(caught.value).startswith(f"Expected to set flag '{flag.name}', but ")
    assert says in str(caught.value)
    assert caught.value.data["violations"][0]["path"] == f"$.{flag.name}"


def test_every_wrong_flag_is_named_in_one_refusal() -> None:
    with pytest.raises(SchemaViolationError) as caught:
        check_flags([SWITCH, NUMBER], {"orch_switch": 1, "orch_stranger": True, "orch_number": 3})
    assert [violation["path"] for violation in caught.value.data["violations"]] == ["$.orch_switch", "$.orch_stranger"]
    assert "it is not declared (declared: orch_switch, orch_number)" in str(caught.value)


def test_every_flag_has_a_value_from_the_start() -> None:
    started = [flag.starting_value() for flag in (TEXT, NUMBER, SWITCH, CHOICE)]
    assert started == ["", 0, False, "pending"]
    assert FlagContract("orch_x", "integer", initial=7).starting_value() == 7


@pytest.mark.req("X14")
@pytest.mark.parametrize(
    ("backoff", "delays"),
    [("fixed", [2, 2, 2, 2]), ("linear", [2, 4, 6, 8]), ("exponential", [2, 4, 8, 10])],
)
def test_the_delay_grows_as_declared_up_to_its_ceiling(backoff: Any, delays: list[float]) -> None:
    policy = RetryPolicy(5, backoff, base_delay_seconds=2, max_delay_seconds=10, jitter=0)
    assert [policy.delay_seconds(attempt, 0.7) for attempt in (1, 2, 3, 4)] == delays


def test_jitter_spreads_the_delay_evenly_around_its_centre() -> None:
    policy = RetryPolicy(5, "fixed", base_delay_seconds=10, jitter=0.1)
    assert [policy.delay_seconds(1, random) for random in (0.0, 0.5, 1.0)] == [9.0, 10.0, 11.0]


@settings(deadline=None, max_examples=200)
@given(
    attempt=st.integers(0, 10_000),
    random=st.floats(0, 1),
    base=st.floats(0, 1e6),
    ceiling=st.floats(0, 1e6),
    jitter=st.floats(0, 1),
    backoff=st.sampled_from(["exponential", "linear", "fixed"]),
)
def test_a_delay_is_never_negative_and_never_over_its_ceiling(
    *, attempt: int, random: float, base: float, ceiling: float, jitter: float, backoff: Any
) -> None:
    policy = RetryPolicy(3, backoff, base, ceiling, jitter)
    assert 0 <= policy.delay_seconds(attempt, random) <= ceiling


@pytest.mark.req("X14")
def test_only_listed_failures_are_retried_and_only_while_attempts_remain() -> None:
    policy = RetryPolicy(max_attempts=3, retry_on=("transient_external",))
    assert policy.allows(2, "transient_external")
    assert not policy.allows(3, "transient_external")
    assert not policy.allows(1, "permanent_business")
    assert not RetryPolicy().allows(1, "transient_external")


def test_consequence_tiers_are_ordered_from_mild_to_grave() -> None:
    assert [tier_rank(tier) for tier in CONSEQUENCE_TIERS] == [0, 1, 2, 3]
    assert tier_rank("benign") < tier_rank("reviewable") < tier_rank("requires_authorisation")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("PT2S", 2),
        ("PT0.5S", 0.5),
        ("P14D", 14 * 86400),
        ("P2W", 14 * 86400),
        ("P1DT2H3M4S", 93784),
        ("PT0S", 0),
    ],
)
def test_durations_of_a_fixed_length_are_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.req("V21")
@pytest.mark.parametrize(
    ("text", "months", "seconds"),
    [("P1Y", 12, 0), ("P1M", 1, 0), ("P1Y2M3DT4H", 14, 273_600), ("P1MT1M", 1, 60), ("P1M2W", 1, 1_209_600),
     ("P2W", 0, 1_209_600), ("PT0.5S", 0, 0.5), ("P0M", 0, 0)],
)  # fmt: skip
def test_spans_may_have_years_and_months(text: str, months: int, seconds: float) -> None:
    assert parse_span(text) == Span(months, int(seconds * SECOND))


@pytest.mark.parametrize("text", ["", "P", "P1M1Y", "P1.5Y", "P1Y2", "P1MT", "P1Y1Y", "-P1M", "P9999Y"])
def test_what_is_no_span_is_refused_with_the_fix(text: str) -> None:
    with pytest.raises(DurationError) as caught:
        parse_span(text)
    assert "Write" in caught.value.hint


def test_of_a_date_with_a_zone_the_offset_counts() -> None:
    plain = parse_date_time("2031-01-01T00:00:00+01:00")
    assert plain == parse_date_time("2031-01-01T00:00:00+01:00[Europe/Berlin]") == 1_924_988_400 * SECOND
    assert not any(map(parse_date_time, ("2031-01-01T00:00:00[Europe/Berlin]", "2031-01-01", "2031-01-01T00:00:00Z[]")))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not an ISO 8601 duration"),
        ("P", "not an ISO 8601 duration"),
        ("PT", "not an ISO 8601 duration"),
        ("P1DT", "not an ISO 8601 duration"),
        ("P1.5D", "not an ISO 8601 duration"),
        ("PT1.5H", "not an ISO 8601 duration"),
        ("P1W2D", "not an ISO 8601 duration"),
        ("pt5s", "not an ISO 8601 duration"),
        ("PT5S\n", "not an ISO 8601 duration"),
        ("PT٣S", "not an ISO 8601 duration"),
        ("5 minutes", "not an ISO 8601 duration"),
        ("-PT5S", "no sign"),
        ("P1Y", "years and months have no fixed length"),
        ("P0.5Y", "years and months have no fixed length"),
        ("P2M", "years and months have no fixed length"),
        ("P1M2DT3H", "years and months have no fixed length"),
    ],
)
def test_other_durations_are_refused_with_the_fix(text: str, says: str) -> None:
    with pytest.raises(DurationError) as caught:
        parse_duration(text)
    assert says in str(caught.value)
    assert "Write" in caught.value.hint
