"""Holds when a field of the context, or of a record, has one of the values or lies within bounds."""

from __future__ import annotations

from typing import Any

from perdure.lifecycles.guards.field_present import FIELD, ID, RECORD, field_facts, field_of, place_of
from perdure.lifecycles.guards.guard_kind import HOLDS, Facts, GuardKind, Judgement, Parameter, Params, closed

_COMPARISONS = ("equals", "in", "not_in", "at_least", "at_most")


def _judge(params: Params, facts: Facts, now: int) -> Judgement:
    found = field_of(params, facts)
    for name in _COMPARISONS:
        if name in params and not _holds(name, found, params[name]):
            shown = "has no value" if found is None else f"is {_shown(found)}"
            return closed(f"field '{params['field']}' of {place_of(params)} {shown}, not {_wanted(name, params[name])}")
    return HOLDS


def _holds(name: str, found: Any, wanted: Any) -> bool:
    match name:
        case "equals":
            return _same(found, wanted)
        case "in":
            return any(_same(found, each) for each in wanted)
        case "not_in":
            return found is not None and not any(_same(found, each) for each in wanted)
        case "at_least":
            return _comparable(found, wanted) and found >= wanted
        case _:
            return _comparable(found, wanted) and found <= wanted


def _same(found: Any, wanted: Any) -> bool:
    """True is not 1."""
    return isinstance(found, bool) == isinstance(wanted, bool) and bool(found == wanted)


def _comparable(found: Any, wanted: Any) -> bool:
    numbers = (int, float)
    if isinstance(found, bool) or isinstance(wanted, bool):
        return False
    if isinstance(found, numbers) and isinstance(wanted, numbers):
        return True
    return isinstance(found, str) and isinstance(wanted, str)


def _shown(value: Any) -> str:
    return f"'{str(value)[:80]}'"


def _wanted(name: str, wanted: Any) -> str:
    if name in ("in", "not_in"):
        listed = ", ".join(_shown(each) for each in wanted[:10])
        return f"one of {listed}" if name == "in" else f"any but {listed}"
    return _shown(wanted) if name == "equals" else f"{name.replace('_', ' ')} {_shown(wanted)}"


KIND = GuardKind(
    "field_value",
    __doc__,
    (
        FIELD,
        Parameter("equals", "value", "The value it must have"),
        Parameter("in", "values", "The values of which it must have one"),
        Parameter("not_in", "values", "The values that it must not have; a field without a value does not hold"),
        Parameter("at_least", "value", "The lowest number or text it may have"),
        Parameter("at_most", "value", "The highest number or text it may have"),
        RECORD,
        ID,
    ),
    field_facts,
    _judge,
    lambda params: str(params.get("field", "field")),
    "WrongField",
    example="{type: field_value, field: risk_rating, in: [low, medium], record: client}",
)
