"""Literals of timers: durations, dates, cycles and cron."""

from __future__ import annotations

import re

from perdure.bpmn.model import TimerKind
from perdure.bpmn.timer_cycles import read_cycle
from perdure.cron import is_cron
from perdure.durations import DurationError, parse_span
from perdure.moments import is_date_time

_NO_OFFSET = re.compile(r"\d{4}-\d\d-\d\d(T[\d:.]+)?(\[.*\])?", re.ASCII)


def timer_fault(kind: TimerKind, text: str) -> str:
    """Why a literal cannot set a timer of this kind; empty when it can."""
    match kind:
        case "duration":
            return _duration_fault(text)
        case "date":
            return _date_fault(text)
        case "cycle":
            return _cycle_fault(text)


def _duration_fault(text: str) -> str:
    try:
        parse_span(text)
    except DurationError as error:
        return error.fact
    return ""


def _date_fault(text: str) -> str:
    if is_date_time(text):
        return ""
    if not (match := _NO_OFFSET.fullmatch(text)):
        return "it is not a date and time with offset, e.g. 2030-01-31T09:00:00Z"
    missing = "offset: add Z or one such as +01:00" if match[1] else "time: write e.g. 2030-01-31T09:00:00Z"
    return f"it has no {missing}"


def _cycle_fault(text: str) -> str:
    cycle = read_cycle(text)
    if isinstance(cycle, str):
        return cycle
    is_known = cycle is not None or is_cron(text)
    return "" if is_known else "it is not a cycle such as R3/PT10M or R/P1M, nor a cron expression"
