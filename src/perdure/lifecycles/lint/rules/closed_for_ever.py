"""A guard can never hold.

It wants a field to have one of no values, to be above its upper bound, more guards to hold than there are, or the same
guard to hold and not to hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from perdure.lifecycles.lint.rule import Note, Severity, Subject
from perdure.lifecycles.machine.definition import Guard

CODE = "LIF120"
NAME = "closed-for-ever"
SEVERITY: Severity = "error"


def check(subject: Subject) -> Iterator[Note]:
    for part, guard in subject.guards():
        if fault := _fault(guard):
            yield Note(part, f"the guard can never hold: {fault}", "Correct its values, or remove it.")


def _fault(guard: Guard) -> str:
    params = guard.params
    if guard.kind == "count" and params["at_least"] > len(guard.guards):
        return f"{params['at_least']} of {len(guard.guards)} guards would have to hold"
    if guard.kind == "all":
        return _contradiction(guard)
    if guard.kind == "field_value":
        return _bounds(params)
    for name in ("document_types", "in"):
        if params.get(name) == []:
            return f"'{name}' names nothing"
    return ""


def _contradiction(guard: Guard) -> str:
    for each in guard.guards:
        if each.kind == "not" and each.guards[0] in guard.guards:
            return f"'{each.guards[0].kind}' would have to hold and not to hold"
    values = [each for each in guard.guards if each.kind == "field_value" and "equals" in each.params]
    for first in values:
        for second in values:
            same = all(first.params.get(name) == second.params.get(name) for name in ("field", "record", "id"))
            if same and first.params["equals"] != second.params["equals"]:
                return f"field '{first.params['field']}' would have to have two values"
    return ""


def _bounds(params: dict[str, Any]) -> str:
    low, high = params.get("at_least"), params.get("at_most")
    if params.get("in") == []:
        return "'in' names nothing"
    if _is_number(low) and _is_number(high) and low > high:  # type: ignore[operator]
        return f"nothing is at least {low} and at most {high}"
    if "equals" in params and "in" in params and params["equals"] not in params["in"]:
        return f"'{params['equals']}' is not among the values of 'in'"
    if "in" in params and "not_in" in params and all(each in params["not_in"] for each in params["in"]):
        return "every value of 'in' is among those of 'not_in'"
    return ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
