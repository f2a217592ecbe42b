"""The same scenario on worse days: a crash after every step, every message delivered twice."""

from __future__ import annotations

from msgspec.structs import replace

from perdure.testing.scenarios.values import Crash, Message, Scenario, Start, Step


def with_crashes(scenario: Scenario) -> Scenario:
    """Everything in memory is lost after every step."""
    return _with(scenario, [(step, Crash()) for step in scenario.steps])


def with_duplicates(scenario: Scenario) -> Scenario:
    """Every message comes twice, under one id."""
    return _with(scenario, [_twice(number, step) for number, step in enumerate(scenario.steps)])


def _twice(number: int, step: Step) -> tuple[Step, ...]:
    match step:
        case Message():
            same = _identified(step, number)
            return same, same
        case Start(message=Message() as message):
            same = _identified(message, number)
            return replace(step, message=same), same
        case _:
            return (step,)


def _identified(message: Message, number: int) -> Message:
    return message if message.id else replace(message, id=f"twice-{number}")


def _with(scenario: Scenario, steps: list[tuple[Step, ...]]) -> Scenario:
    together = [(step, number) for number, group in enumerate(steps) for step in group]
    lines = tuple(scenario.lines[number] for _, number in together) if scenario.lines else ()
    return replace(scenario, steps=tuple(step for step, _ in together), lines=lines)
