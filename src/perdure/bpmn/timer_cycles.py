"""Cycles of timers: how often they come, from when, and how far apart."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from perdure.durations import DurationError, Span, later, next_after, parse_span
from perdure.moments import parse_date_time

_CYCLE = re.compile(r"R(?P<times>-1|\d{0,9})/(?:(?P<start>.+)/)?(?P<interval>P[^/]*)", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
"""No date is written later than this."""


class Cycle(NamedTuple):
    """Without end when `times` is -1; counted from when it is armed unless `start` says from when."""

    times: int
    start: int
    span: Span
    interval: str

    @property
    def left(self) -> int:
        """How often it comes after the first time; -1 without end."""
        return max(-1, self.times - 1)

    def first(self, now: int) -> int:
        return self.start or later(now, self.span)

    def next(self, due: int, left: int, now: int) -> int:
        """The time after `due`. Without end, times that were missed are passed over.

        Months are counted from the start: the 31st comes back after a shorter month.
        """
        return next_after(self.start or due, self.span, max(due, now) if left < 0 else due)

    def armed(self, now: int) -> str:
        """How it goes on once it is armed, as text: months know from when they are counted."""
        start = f"{_text(self.start or now)}/" if self.span.months else ""
        return f"R/{start}{self.interval}"


def read_cycle(text: str) -> Cycle | str | None:
    """`R3/PT10M` or `R/2026-01-01T00:00:00Z/P1M`, or what is wrong with it; None when it has not this form at all."""
    match = _CYCLE.fullmatch(text)
    if match is None:
        return None
    times = int(match["times"] or -1)
    start = parse_date_time(match["start"]) if match["start"] else 0
    if times == 0:
        return "it never happens"
    if match["start"] and not start:
        return "its start is not a date and time with offset"
    try:
        span = parse_span(match["interval"])
    except DurationError as error:
        return error.fact
    return Cycle(times, start, span, match["interval"]) if any(span) else "its interval is zero"


def put_off(text: str, due: int) -> str:
    """An armed cycle whose next time has been put off until then: its months are counted from there."""
    cycle = read_cycle(text)
    return cycle._replace(start=due).armed(0) if isinstance(cycle, Cycle) and cycle.start else text


def _text(moment: int) -> str:
    return (_EPOCH + timedelta(microseconds=min(moment, _LATEST))).isoformat()
