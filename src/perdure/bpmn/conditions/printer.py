"""Condition trees written as text, in either spelling."""

from __future__ import annotations

from typing import Literal, assert_never

from perdure.bpmn.conditions.tokens import quoted
from perdure.bpmn.conditions.tree import Among, Both, Compare, Condition, Either, Foreign, Not, Scalar

Spelling = Literal["feel", "source"]


def show_condition(condition: Condition, spelling: Spelling = "feel") -> str:
    """The condition as text: `=orch_x = "a"` in FEEL, `orch_x == "a"` in the source spelling.

    A foreign condition is given back as it was written. What is shown parses to the same tree.
    """
    if isinstance(condition, Foreign):
        return condition.text
    text = _shown(condition, spelling)
    return f"={text}" if spelling == "feel" else text


def _shown(condition: Condition, spelling: Spelling) -> str:
    match condition:
        case Compare(flag, operator, literal):
            sign = "==" if operator == "=" and spelling == "source" else operator
            return f"{flag} {sign} {show_literal(literal)}"
        case Among(flag, literals):
            return f"{flag} in ({', '.join(map(show_literal, literals))})"
        case Both(parts):
            return " and ".join(_grouped(part, spelling, Either) for part in parts)
        case Either(parts):
            return " or ".join(_shown(part, spelling) for part in parts)
        case Not(part):
            return f"not({_shown(part, spelling)})"
        case Foreign(text):
            return text
        case _:
            assert_never(condition)


def _grouped(part: Condition, spelling: Spelling, weaker: type[Condition]) -> str:
    text = _shown(part, spelling)
    return f"({text})" if isinstance(part, weaker) else text


def show_literal(literal: Scalar) -> str:
    """A literal as it stands in a condition."""
    if isinstance(literal, bool):
        return "true" if literal else "false"
    return quoted(literal) if isinstance(literal, str) else str(literal)
