"""Values as XML text: a literal, `=orch_x` for a flag, any other expression kept as written."""

from __future__ import annotations

import re

from perdure.bpmn.conditions.tokens import quoted, words_of
from perdure.bpmn.model import Value
from perdure.verb_contract import FLAG_NAME

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_COUNTED = re.compile(r"=\s*for\s+([a-zA-Z_]\w*)\s+in\s+1\s*\.\.\s*([a-z0-9_]+)\s+return\s+\1", re.ASCII)
_TEMPLATE = re.compile(r"\$\{\s*(?:state\.)?([a-z0-9_]+)\s*\}", re.ASCII)


def parse_value(text: str) -> Value:
    """`=orch_x` and `${orch_x}` are flags, `="a"` and `=5` literals like `a` and `5`; other expressions are foreign."""
    text = text.strip()
    if text.startswith("${"):
        named = _TEMPLATE.fullmatch(text)
        return Value(named[1], "flag") if named and FLAG_NAME.fullmatch(named[1]) else Value(text, "foreign")
    if not text.startswith("="):
        return Value(text)
    inside = text[1:].strip()
    if FLAG_NAME.fullmatch(inside):
        return Value(inside, "flag")
    if _NUMBER.fullmatch(inside):
        return Value(inside)
    string = _string(inside)
    return Value(text, "foreign") if string is None else Value(string)


def show_value(value: Value) -> str:
    """The text that reads as this value."""
    if value.kind == "foreign":
        return value.text
    if value.kind == "flag":
        return f"={value.text}"
    is_plain = value.text == value.text.strip() and not value.text.startswith(("=", "${"))
    return value.text if is_plain else f"={quoted(value.text)}"


def parse_cardinality(text: str) -> Value:
    """How often: a number, a flag (also without `=`), or something foreign."""
    value = parse_value(text)
    return Value(value.text, "flag") if FLAG_NAME.fullmatch(text.strip()) else value


def show_cardinality(value: Value) -> str:
    is_ambiguous = value.kind == "literal" and FLAG_NAME.fullmatch(value.text)
    return f"={quoted(value.text)}" if is_ambiguous else show_value(value)


def parse_collection(text: str) -> Value:
    """`=for i in 1..orch_n return i` is a count; every other collection is foreign."""
    counted = _COUNTED.fullmatch(text.strip())
    if counted and FLAG_NAME.fullmatch(counted[2]):
        return Value(counted[2], "flag")
    if counted and counted[2].isdigit():
        return Value(counted[2])
    return Value(text.strip(), "foreign")


def show_collection(value: Value) -> str | None:
    """The collection that counts to the value; none for a literal that is no number."""
    if value.kind == "foreign":
        return value.text or None
    if value.kind == "flag" or re.fullmatch("[0-9]+", value.text):
        return f"=for i in 1..{value.text} return i"
    return None


def _string(text: str) -> str | None:
    words = words_of(text, 0, len(text))
    return words[0].text if len(words) == 2 and words[0].kind == "string" else None
