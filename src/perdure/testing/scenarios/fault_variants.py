"""The same scenario on worse days: a crash after every step, every message delivered twice."""

from __future__ import annotations

from msgspec.structs import replace

from perdure.testing.scenarios.scenario import Crash, Message, Scenario, Signal, Start, Step


def with_crashes(scenario: Scenario) -> Scenario:
    """Everything in memory is lost after every step."""
    return _with(scenario, [(step, Crash()) for step in scenario.steps])


def with_duplicates(scenario: Scenario) -> Scenario:
    """Every message comes twice, under one id."""
    named = with_ids(scenario)
    return _with(named, [_twice(step) for step in named.steps])


def with_ids(scenario: Scenario) -> Scenario:
    """Every message and signal has an id, so that asking again is not sending another."""
    steps = tuple(_identified(step, f"twice-{number}") for number, step in enumerate(scenario.steps))
    return replace(scenario, steps=steps)


def _twice(step: Step) -> tuple[Step, ...]:
    match step:
        case Message():
            return step, step
        case Start(message=Message() as message):
            return step, message
        case _:
            return (step,)


def _identified(step: Step, id: str) -> Step:
    match step:
        case Message() | Signal():
            return step if step.id else replace(step, id=id)
        case Start(message=Message() as message) if not message.id:
            return replace(step, message=replace(message, id=id))
        case Start(signal=Signal() as signal) if not signal.id:
            return replace(step, signal=replace(signal, id=id))
        case _:
            return step


def _with(scenario: Scenario, steps: list[tuple[Step, ...]]) -> Scenario:
    together = [(step, number) for number, group in enumerate(steps) for step in group]
    lines = tuple(scenario.lines[number] for _, number in together) if scenario.lines else ()
    return replace(scenario, steps=tuple(step for step, _ in together), lines=lines)
