"""Expressions in Python: paths, templates, conditions, spans of time."""

from __future__ import annotations

import json
from datetime import datetime
from typing import assert_never

from perdure.bpmn.conditions.tree import Among, Both, Compare, Condition, Either, Foreign, Not
from perdure.bpmn.contract import FromState, Given, Path, Template, Text, parse_path
from perdure.bpmn.model import Event, TimerTrigger
from perdure.durations import DurationError, parse_duration
from perdure.scaffold.data_shapes import Place, Shapes
from perdure.scaffold.flow_graph import refused
from perdure.scaffold.python_source import quoted

STATE = "self.state"
_GIVEN = {
    "process_instance_id": "self.instance_id",
    "process_run_id": "self.run_id",
    "step_instance_id": "step_instance",
}


class Data:
    """Reads and writes paths of records; what is plain JSON is looked into."""

    def __init__(self, shapes: Shapes) -> None:
        self._plain = shapes.plain

    def read(self, owner: str, record: str, parts: tuple[str, ...]) -> str:
        """`self.state.order.id`; `look(self.state.claim, "id")` inside plain JSON."""
        whole, inside = self._split(record, parts)
        reached = ".".join((owner, *whole))
        return f"look({', '.join([reached, *map(quoted, inside)])})" if inside else reached

    def write(self, owner: str, record: str, parts: tuple[str, ...], value: str) -> str:
        whole, inside = self._split(record, parts)
        reached = ".".join((owner, *whole))
        if not inside:
            return f"{reached} = {value}"
        return f"{reached} = put({', '.join([reached, value, *map(quoted, inside)])})"

    def is_plain(self, record: str, parts: tuple[str, ...]) -> bool:
        return bool(self._split(record, parts)[1]) or (record, parts) in self._plain

    def state(self, path: Path) -> str:
        return self.read(STATE, "State", path.inner)

    def _split(self, record: str, parts: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        for end in range(1, len(parts)):
            place: Place = (record, parts[:end])
            if place in self._plain:
                return parts[:end], parts[end:]
        return parts, ()


def template(value: Template, data: Data, step: str = "", state: str = STATE) -> str:
    """A template as an f-string; what is unset or empty fails by name."""
    parts: list[str] = []
    for part in value.parts:
        match part:
            case Text(text):
                parts.append(_in_f_string(text))
            case Given("step_id"):
                parts.append(_in_f_string(step))
            case Given(name):
                parts.append(f"{{{_GIVEN[name]}}}")
            case FromState(path):
                read = data.read(state, "State", path.inner).replace('"', "'")
                parts.append(f"{{text({read}, '{path.text}')}}")
            case _:
                assert_never(part)
    if len(value.parts) == 1 and isinstance(value.parts[0], FromState):
        path = value.parts[0].path
        return f"filled(text({data.read(state, 'State', path.inner)}, {quoted(path.text)}))"
    written = f'f"{"".join(parts)}"' if value.paths or value.identities else quoted("".join(map(_plain, value.parts)))
    return written if any(isinstance(part, Text) for part in value.parts) else f"filled({written})"


def _plain(part: object) -> str:
    return part.text if isinstance(part, Text) else ""


def _in_f_string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1].replace("{", "{{").replace("}", "}}")


def condition(value: Condition, data: Data, *, inside: bool = False) -> str:
    """A condition over the state; unset equals nothing and is not ordered."""
    match value:
        case Compare(flag, operator, literal):
            return _compare(data, parse_path(flag), operator, literal, inside=inside)
        case Among(flag, literals):
            return f"{data.state(parse_path(flag))} in ({', '.join(map(_literal, literals))},)".replace(
                ",)", ")" if len(literals) > 1 else ",)"
            )
        case Both(parts):
            return _joined(" and ", [condition(part, data, inside=True) for part in parts], inside)
        case Either(parts):
            return _joined(" or ", [condition(part, data, inside=True) for part in parts], inside)
        case Not(part):
            return f"not {_in_brackets(condition(part, data, inside=True))}"
        case Foreign(text):
            raise refused(text[:80], "it is outside the grammar of conditions")
        case _:
            assert_never(value)


def negated(value: Condition, data: Data) -> str:
    match value:
        case Compare(flag, "=", literal):
            return condition(Compare(flag, "!=", literal), data)
        case Compare(flag, "!=", literal):
            return condition(Compare(flag, "=", literal), data)
        case Not(part):
            return condition(part, data)
        case _:
            return f"not {_in_brackets(condition(value, data, inside=True))}"


def _compare(data: Data, path: Path, operator: str, literal: str | bool | int, *, inside: bool) -> str:
    read, written = data.state(path), _literal(literal)
    if operator in ("=", "!="):
        if isinstance(literal, bool):
            return f"{read} is {'' if operator == '=' else 'not '}{written}"
        return f"{read} {'==' if operator == '=' else '!='} {written}"
    if data.is_plain("State", path.inner):
        return f"is_ordered({read}, {quoted(operator)}, {written})"
    return _joined(" and ", [f"{read} is not None", f"{read} {operator} {written}"], inside)


def _joined(word: str, parts: list[str], inside: bool) -> str:
    text = word.join(parts)
    return f"({text})" if inside else text


def _in_brackets(text: str) -> str:
    return text if text.startswith("(") and text.endswith(")") else f"({text})"


def _literal(value: str | bool | int) -> str:
    return quoted(value) if isinstance(value, str) else repr(value)


def span(event: Event, timer: TimerTrigger) -> str:
    """How long a timer runs, as an expression of type timedelta."""
    text = timer.value.text
    if timer.value.kind != "literal":
        raise refused(event.id, "its timer is not a literal", "Write a duration or a date.")
    if timer.kind == "cycle":
        raise refused(event.id, "its timer repeats", "Draw the repetition as a loop.")
    if timer.kind == "date":
        return f"until({quoted(_date(event, text))})"
    try:
        return duration(parse_duration(text))
    except DurationError as error:
        raise refused(event.id, f"its duration '{text[:80]}' is refused: {error.fact}", error.hint) from None


def _date(event: Event, text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise refused(event.id, f"'{text[:80]}' is no date", "Write e.g. 2030-01-31T12:00:00Z.") from None
    if moment.tzinfo is None:
        raise refused(event.id, f"'{text[:80]}' says no time zone", "Write e.g. 2030-01-31T12:00:00Z.")
    return text


def duration(seconds: float) -> str:
    """`timedelta(days=7)`, in the largest unit that is whole."""
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= size and seconds % size == 0:
            return f"timedelta({unit}={int(seconds // size)})"
    return f"timedelta(seconds={int(seconds) if float(seconds).is_integer() else seconds})"
