"""Cycles come as often as they say, months on the day they began with, and missed ones once."""

from __future__ import annotations

import pytest

from perdure.bpmn.machine.expression_values import cycle_start, next_due
from perdure.bpmn.timer_cycles import Cycle, put_off, read_cycle
from perdure.cron import next_cron
from perdure.durations import DAY
from perdure.moments import parse_date_time
from perdure.sources import iso

LAST_OF_JANUARY = parse_date_time("2026-01-31T10:00:00Z")


def days(text: str, count: int, now: int = LAST_OF_JANUARY) -> list[str]:
    """The days on which an armed cycle comes, each noticed when it is due."""
    due, cycle, left, fault = cycle_start(text, now, next_cron)
    assert not fault
    found = []
    while due and len(found) < count:
        found.append(iso(due)[:10])
        due, left = (next_due(cycle, due, left, due, next_cron) if left else 0), max(-1, left - 1)
    return found


@pytest.mark.req("V21")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("R/P1M", ["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"]),
        ("R-1/P1M", ["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"]),
        ("R3/P1M", ["2026-02-28", "2026-03-31", "2026-04-30"]),
        ("R2/P1Y", ["2027-01-31", "2028-01-31"]),
        ("R3/2026-01-31T00:00:00+01:00/P1M", ["2026-01-30", "2026-02-28", "2026-03-30"]),
        ("R3/2026-05-31T00:00:00+00:00[Europe/Berlin]/P1M", ["2026-05-31", "2026-06-30", "2026-07-31"]),
        ("R2/P1M1D", ["2026-03-01", "2026-04-02"]),
        ("R2/P30D", ["2026-03-02", "2026-04-01"]),
        ("@monthly", ["2026-02-01", "2026-03-01", "2026-04-01", "2026-05-01"]),
        ("@weekly", ["2026-02-01", "2026-02-08", "2026-02-15", "2026-02-22"]),
        ("@yearly", ["2027-01-01", "2028-01-01", "2029-01-01", "2030-01-01"]),
    ],
)
def test_a_cycle_comes_on_these_days(text: str, expected: list[str]) -> None:
    assert days(text, 4) == expected


@pytest.mark.parametrize("text", ["R/P1M", "R/PT36H", "R/2026-01-31T10:00:00Z/P1M"])
def test_missed_times_of_a_cycle_without_end_are_passed_over(text: str) -> None:
    due, cycle, left, _ = cycle_start(text, LAST_OF_JANUARY, next_cron)
    late = LAST_OF_JANUARY + 400 * DAY
    again = next_due(cycle, due, left, late, next_cron)
    assert late < again <= late + 31 * DAY
    assert iso(again)[10:] == iso(LAST_OF_JANUARY)[10:] or "H" in text


@pytest.mark.parametrize(("days", "expected"), [(5, "2026-04-05"), (20, "2026-04-20"), (40, "2026-05-09")])
def test_a_cycle_that_was_put_off_counts_its_months_from_then(days: int, expected: str) -> None:
    due, cycle, left, _ = cycle_start("R/P1M", LAST_OF_JANUARY, next_cron)
    due += days * DAY
    assert iso(next_due(put_off(cycle, due), due, left, due, next_cron))[:10] == expected
    assert put_off("R/PT10M", due) == "R/PT10M"
    assert put_off("0 9 * * *", due) == "0 9 * * *"


def test_a_cycle_at_the_end_of_the_calendar_can_be_put_off() -> None:
    due, cycle, left, _ = cycle_start("R/9999-12-31T00:00:00Z/P1M", LAST_OF_JANUARY, next_cron)
    due += 20 * DAY
    assert next_due(put_off(cycle, due), due, left, due, next_cron) > due
    assert put_off(put_off(cycle, due), due) == put_off(cycle, due)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("R0/P1M", "never"), ("R/P0M", "zero"), ("R/PT0.0000001S", "zero"), ("R/soon/P1M", "start"),
        ("R/P1X", "not an ISO"), ("R/2031-01-01T00:00:00/P1M", "start"),
    ],
)  # fmt: skip
def test_a_cycle_that_cannot_be_says_why(text: str, fault: str) -> None:
    cycle = read_cycle(text)
    assert isinstance(cycle, str)
    assert fault in cycle
    assert fault in cycle_start(text, LAST_OF_JANUARY, next_cron).fault


def test_what_is_no_cycle_may_be_cron() -> None:
    assert read_cycle("0 9 * * *") is None
    assert isinstance(read_cycle("R5/P1M"), Cycle)
