"""Literals of timers: durations, dates, cycles and cron."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from cronsim import CronSim, CronSimError

from perdure.bpmn.model import TimerKind
from perdure.contracts import DurationError, is_date_time, parse_duration

_CYCLE = re.compile(r"R(?P<times>\d{0,9})/(?:(?P<start>[^/]+)/)?(?P<interval>P[^/]*)", re.ASCII)
_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)


def timer_fault(kind: TimerKind, text: str) -> str:
    """Why a literal cannot set a timer of this kind; empty when it can."""
    match kind:
        case "duration":
            return _duration_fault(text)
        case "date":
            return "" if is_date_time(text) else "it is not a date and time with offset, e.g. 2030-01-31T09:00:00Z"
        case "cycle":
            return _cycle_fault(text)


def _duration_fault(text: str) -> str:
    try:
        parse_duration(text)
    except DurationError as error:
        return error.fact
    return ""


def _cycle_fault(text: str) -> str:
    match = _CYCLE.fullmatch(text)
    if match is None:
        return "" if _is_cron(text) else "it is not a cycle such as R3/PT10M or R/PT1H, nor a cron expression"
    if match["times"] and int(match["times"]) == 0:
        return "it never happens"
    if match["start"] is not None and not is_date_time(match["start"]):
        return "its start is not a date and time with offset"
    fault = _duration_fault(match["interval"])
    if not fault and parse_duration(match["interval"]) == 0:
        return "its interval is zero"
    return fault


def _is_cron(text: str) -> bool:
    try:
        next(CronSim(text, _ANY_DAY))
    except (CronSimError, StopIteration):
        return False
    return True
