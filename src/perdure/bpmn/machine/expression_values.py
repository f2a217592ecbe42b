"""Values of literals, flags and timers of a model at one moment."""

from __future__ import annotations

import re
from typing import NamedTuple

from perdure.bpmn import model as m
from perdure.bpmn.conditions.printer import show_literal
from perdure.bpmn.machine.token_game_state import Cron, TokenGame
from perdure.bpmn.timer_cycles import Cycle, read_cycle
from perdure.durations import DurationError, later, parse_span
from perdure.moments import parse_date_time

MAX_ITERATIONS = 1_000_000
MAX_AT_ONCE = 1_000
"""Iterations that run in parallel all stand in the instance at once; more are asked to run one after the other."""


class Moment(NamedTuple):
    """When a timer is due, how it repeats, and how often still (-1: without end); or what is wrong with it."""

    due: int = 0
    cycle: str = ""
    left: int = 0
    fault: str = ""


def text_of(game: TokenGame, value: m.Value | None) -> str:
    """The text of a literal or of a flag; nothing else evaluates."""
    if value is None or value.kind == "foreign":
        return ""
    if value.kind == "literal":
        return value.text
    found = game.state.flags.get(value.text, "")
    return ("true" if found else "false") if isinstance(found, bool) else str(found)


def count_of(game: TokenGame, value: m.Value, *, is_sequential: bool) -> int | str:
    """A cardinality, or what is wrong with it."""
    most = MAX_ITERATIONS if is_sequential else MAX_AT_ONCE
    number = _number_of(game, value)
    return number if isinstance(number, str) or number <= most else f"{number:,} iterations are more than {most:,}"


def _number_of(game: TokenGame, value: m.Value) -> int | str:
    if value.kind != "flag":
        is_number = value.kind == "literal" and re.fullmatch(r"\d{1,9}", value.text)
        return int(value.text) if is_number else f"'{value.text}' is not a number of iterations"
    found = game.state.flags.get(value.text)
    if found is None:
        return f"the flag '{value.text}' is not set"
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        return f"the flag '{value.text}' is {show_literal(found)}, which is not an integer from 0 on"
    return int(found)


def moment_of(game: TokenGame, trigger: m.TimerTrigger) -> Moment:
    """When a timer that is armed now is due."""
    text = text_of(game, trigger.value).strip()
    match trigger.kind:
        case "duration":
            return _after(game.now, text)
        case "date":
            return _date(text)
        case "cycle":
            return cycle_start(text, game.now, game.cron)


def _after(now: int, text: str) -> Moment:
    try:
        return Moment(later(now, parse_span(text)))
    except DurationError as error:
        return Moment(fault=f"'{text}' is not a duration: {error.fact}")


def _date(text: str) -> Moment:
    due = parse_date_time(text)
    return Moment(due) if due else Moment(fault=f"'{text}' is not a date and time with offset")


def cycle_start(text: str, now: int, cron: Cron) -> Moment:
    """The first time of a cycle: `R3/PT10M`, `R/2026-01-01T00:00:00Z/P1D` or a cron expression."""
    cycle = read_cycle(text)
    if isinstance(cycle, Cycle):
        return Moment(cycle.first(now), cycle.armed(now), cycle.left)
    if cycle is not None:
        return Moment(fault=f"'{text}' is not a cycle: {cycle}")
    due = cron(text, now)
    return Moment(due, text, -1) if due else Moment(fault=f"'{text}' is not a cycle such as R3/PT10M")


def next_due(text: str, due: int, left: int, now: int, cron: Cron) -> int:
    """The time after `due` of a cycle that is armed."""
    cycle = read_cycle(text)
    return cycle.next(due, left, now) if isinstance(cycle, Cycle) else cron(text, max(due, now))
