"""FEEL expressions that mean on Zeebe what a value of ours means here."""

from __future__ import annotations

from perdure.bpmn.conditions.printer import show_literal
from perdure.bpmn.conditions.tokens import quoted
from perdure.bpmn.conditions.tree import Among, Both, Compare, Condition, Either, Not, Scalar
from perdure.bpmn.model import COMPLETED_COUNT, Value
from perdure.durations import DurationError, parse_span
from perdure.moments import SECOND

_COUNTED = "numberOfCompletedInstances"
"""The variable of Zeebe that counts iterations that have ended."""


def key(value: Value) -> Value:
    """A correlation key; Zeebe takes no literal."""
    return _feel(quoted(value.text)) if value.kind == "literal" else value


def moment(value: Value) -> Value:
    """A due date: a duration counts from when the task opens; Zeebe knows dates only."""
    if value.kind == "flag":
        span = f"duration({value.text})"
        date = f"if {span} = null then {value.text} else now() + {span}"
        return _feel(f'if {value.text} = "" then null else {date}')
    parts = _spans(value.text.strip()) if value.kind == "literal" else []
    return _feel(" + ".join(["now()", *(f"duration({quoted(part)})" for part in parts)])) if parts else value


def _spans(text: str) -> list[str]:
    """A duration in parts that FEEL reads, which knows no weeks, and no months beside days; none for anything else."""
    try:
        months, micros = parse_span(text)
    except DurationError:
        return []
    if "W" not in text and not (months and micros):
        return [text]
    seconds, rest = divmod(micros, SECOND)
    counted = f"{seconds}.{rest:06}".rstrip("0") if rest else str(seconds)
    return [*([f"P{months}M"] if months else []), *([f"PT{counted}S"] if micros else [])]


def names(value: Value) -> Value:
    """Groups or users; Zeebe takes a list where an expression names them."""
    if value.kind != "flag":
        return value
    return _feel(f'if {value.text} = "" then [] else split({value.text}, ", *")')


def counted(value: Value) -> Value:
    """A collection of so many numbers. In FEEL `1..0` counts down, so that none is said apart; less is an incident."""
    if value.kind == "flag":
        count = value.text
        return _feel(f"if {count} < 0 then null else if {count} < 1 then [] else for i in 1..{count} return i")
    return _feel("[]") if value.kind == "literal" and value.text.strip("0 ") == "" and value.text else value


def first_value(flag: str, initial: Scalar) -> Value:
    """The flag as it was given, else its first value."""
    return _feel(f"if {flag} = null then {show_literal(initial)} else {flag}")


def completion(condition: Condition | None) -> Condition | None:
    """The condition that ends a multi-instance activity, with Zeebe's own count."""
    match condition:
        case Compare(flag, operator, literal) if flag == COMPLETED_COUNT:
            return Compare(_COUNTED, operator, literal)
        case Among(flag, literals) if flag == COMPLETED_COUNT:
            return Among(_COUNTED, literals)
        case Both(parts):
            return Both(tuple(filter(None, map(completion, parts))))
        case Either(parts):
            return Either(tuple(filter(None, map(completion, parts))))
        case Not(part):
            return Not(completion(part) or part)
        case _:
            return condition


def _feel(text: str) -> Value:
    return Value(f"={text}", "foreign")
