"""Calls that arrive as JSON, from an agent or a person's decision, as the compiler takes them."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.runbooks.language.faults import DEEPEST, MOST_STEPS, MOST_VALUES, Fault, raise_if_any
from perdure.runbooks.language.let.values import split_path
from perdure.runbooks.language.program import CallSource, Ref, Span, Var, steps_of
from perdure.typed_reading import convert
from perdure.verbs.near_names import did_you_mean
from perdure.verbs.sexpr.mistakes import Report, shown
from perdure.verbs.sexpr.name_syntax import FIELD, NAME

_KEYS = ("verb", "args", "name", "after", "on_failure", "alternative", "gate", "reevaluate", "section", "provenance")


def calls_from_json(data: Any, *, file: str = "<calls>") -> list[CallSource]:
    """Each call as an object; in its args `{"@": "case.case_id"}` is a result and `{"$": "client"}` a variable.

    Raises ProgramError with everything that is wrong; the line of a fault is the number of its call.
    """
    report = Report(file)
    if not isinstance(data, list):
        _wrong(
            report, 1, "the calls are not a list", 'Give a list of objects: [{"verb": "kyc.open-case", "args": {}}].'
        )
        data = []
    _check_count(data, report)
    found = [_call(each, number, report) for number, each in enumerate(data, start=1)]
    raise_if_any(report)
    return [call for call in found if call is not None]


def _check_count(data: list[Any], report: Report) -> None:
    """Refuse more calls, or more values in their arguments, than are compiled, before any of them is looked at."""
    if len(data) > MOST_STEPS:
        reason = f"there are more than {MOST_STEPS} steps"
        report.add(Fault.TOO_MANY_STEPS, Span(0, 0, MOST_STEPS + 1, 1), reason, "Split them into several runbooks.")
        raise_if_any(report)
    left = MOST_VALUES
    for number, call in enumerate(data, start=1):
        left -= counted(call, left)
        if left < 0:
            reason = f"the calls hold more than {MOST_VALUES:,} values"
            _wrong(report, number, reason, "Keep large data elsewhere and pass a reference.")
            raise_if_any(report)


def _call(data: Any, number: int, report: Report) -> CallSource | None:
    if not isinstance(data, dict) or not isinstance(data.get("verb"), str):
        hint = 'Write it as {"verb": "kyc.open-case", "args": {}, "name": "case"}.'
        _wrong(report, number, "the call is not an object that names a verb", hint)
        return None
    for key in data:
        if key not in _KEYS:
            hint = did_you_mean(str(key), _KEYS) or f"Known are {', '.join(_KEYS)}."
            _wrong(report, number, f"'{shown(str(key))}' says nothing about a call", hint)
    known = {key: value for key, value in data.items() if key in _KEYS and key != "args"}
    try:
        call = convert(known, CallSource)
    except msgspec.ValidationError as error:
        _wrong(report, number, f"the call is malformed: {error}", "See the language's reference.")
        return None
    args = data.get("args", {})
    if not isinstance(args, dict):
        _wrong(report, number, "'args' is not an object", 'Write {"name": value}.')
        return None
    return msgspec.structs.replace(call, args={name: _value(value, number, report) for name, value in args.items()})


def _value(value: Any, number: int, report: Report, depth: int = 1) -> Any:
    if depth > DEEPEST:
        _wrong(report, number, f"values are nested deeper than {DEEPEST}", "Let an earlier call make the value.")
        return None
    if isinstance(value, list):
        return [_value(item, number, report, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"@": str() as text} if len(value) == 1:
            return _named(text, Ref, number, report)
        case {"$": str() as text} if len(value) == 1:
            return _named(text, Var, number, report)
        case _:
            return {key: _value(item, number, report, depth + 1) for key, item in value.items()}


def counted(value: Any, most: int) -> int:
    """The values in and under a value; those of one container more than `most` at the most."""
    count, waiting = 0, [value]
    while waiting and count <= most:
        each = waiting.pop()
        count += 1
        if isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)
    return count


def _named(text: str, kind: type[Ref] | type[Var], number: int, report: Report) -> Ref | Var | None:
    name, path = split_path(text)
    if NAME.match(name) and all(FIELD.match(field) for field in path):
        return kind(name, steps_of(path))
    _wrong(report, number, f"'{shown(text)}' names no result", 'Write a name and its fields: {"@": "case.owner"}.')
    return None


def _wrong(report: Report, number: int, reason: str, hint: str) -> None:
    report.add(Fault.MALFORMED_CALL, Span(0, 0, number, 1), reason, hint)
