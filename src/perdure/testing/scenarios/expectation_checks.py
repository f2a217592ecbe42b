"""Compares what came of a scenario with what was expected; every difference is one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from perdure.testing.scenarios.scenario import Actual, Expectation, Group

MAX_SHOWN = 40


def failures(expect: Expectation | None, actual: Actual) -> list[str]:
    """Sentences for what does not hold; a deployment nobody expected to be refused is one of them."""
    return [*_deployment(expect, actual), *(_differences(expect, actual) if expect is not None else ())]


def _deployment(expect: Expectation | None, actual: Actual) -> Iterator[str]:
    expects_refusal = expect is not None and (expect.deploy == "refused" or (expect.codes and expect.deploy is None))
    if actual.deploy == "refused" and not expects_refusal:
        yield f"The deployment was refused ({_shown(actual.codes)})."
    elif expects_refusal and actual.deploy == "accepted":
        yield "The deployment was expected to be refused, but was accepted."
    elif expect is not None and (missing := [each for each in expect.codes if each not in actual.codes]):
        said = ", ".join(missing)
        yield f"The deployment was expected to be refused with {said}, but the codes are {_shown(actual.codes)}."


def _differences(expect: Expectation, actual: Actual) -> Iterator[str]:
    if expect.state is not None and expect.state != actual.state:
        yield f"Expected state '{expect.state}', but it is '{actual.state}'."
    for name, state in expect.states.items():
        if actual.states.get(name) != state:
            yield f"Expected instance '{name}' to be '{state}', but it is '{actual.states.get(name)}'."
    for what, expected, found in (("ran", expect.ran, actual.ran), ("visited", expect.visited, actual.visited)):
        if expected is not None:
            yield from _order(what, expected, found, expect.any_order)
    if expect.parked is not None and not _waits_at(expect.parked, actual.parked):
        yield f"Expected to wait at {_shown(sorted(expect.parked))}, but it waits at {_shown(sorted(actual.parked))}."
    if expect.incidents is not None and expect.incidents != actual.incidents:
        yield f"Expected {expect.incidents} open incidents, but there are {actual.incidents}."
    for flag, value in expect.flags.items():
        if (held := actual.flags.get(flag)) != value or isinstance(held, bool) != isinstance(value, bool):
            yield f"Expected flag '{flag}' to be {value!r}, but it is {held!r}."
    for field, wanted in expect.data.items():
        if actual.data.get(field) != wanted:
            yield f"Expected '{field}' of the data to be {wanted!r}, but it is {actual.data.get(field)!r}."


def _waits_at(expected: Sequence[str], found: Sequence[str]) -> bool:
    """Elements named once stand for all that waits there; named more often, they are counted."""
    if len(set(expected)) == len(expected):
        return set(expected) == set(found)
    return Counter(expected) == Counter(found)


def _order(what: str, expected: Sequence[Group], found: Sequence[str], any_order: bool) -> Iterator[str]:
    if any_order:
        wanted = Counter(name for group in expected for name in group)
        if wanted != Counter(found):
            yield f"Expected {what} in any order to be {_shown(sorted(wanted.elements()))}, but it is {_shown(found)}."
        return
    at = 0
    for group in expected:
        there = found[at : at + len(group)]
        if Counter(there) != Counter(group):
            yield f"Expected {what} to have {_words(group)} at position {at + 1}, but {what} is {_shown(found)}."
            return
        at += len(group)
    if at < len(found):
        yield f"Expected {what} to end after {at}, but there follows {_shown(found[at:])}."


def _words(group: Group) -> str:
    return f"'{group[0]}'" if len(group) == 1 else f"{_shown(group)} in any order"


def _shown(names: Sequence[str]) -> str:
    more = f" … {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else ""
    return f"[{', '.join(names[:MAX_SHOWN])}{more}]"
