"""Why a value is not JSON: the path of the first offender and what is wrong with it."""

from __future__ import annotations

from math import isfinite
from typing import Any, NoReturn

from perdure.errors import SchemaViolationError
from perdure.payload.json_numbers import MAX_INTEGER

MAX_DEPTH = 100

Path = tuple[str | int, ...]

_PLAIN = (str, int, float, dict, list, tuple)


def blame(value: Any, path: Path = ()) -> None:
    """Raises for the first value that is not JSON, naming its path; returns when there is none."""
    kind = type(value)
    if value is None or kind is bool:
        return
    if kind is str:
        _text(value, path)
    elif kind is int:
        _integer(value, path)
    elif kind is float:
        if not isfinite(value):
            refuse(path, f"{value} is not a JSON number", "Use null for a value that is not known.")
    elif kind is dict or kind is list or kind is tuple:
        _container(value, path)
    else:
        refuse(path, f"a {kind.__name__} is not JSON", _hint(value))


def pointer(path: Path) -> str:
    """A path as a JSON pointer; the whole value is the empty string."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def refuse(path: Path, fact: str, hint: str = "") -> NoReturn:
    where = pointer(path)
    violations = [{"path": where, "reason": fact}]
    raise SchemaViolationError("write", "JSON value", where or "(root)", fact, hint, path=where, violations=violations)


def within_depth(path: Path) -> None:
    if len(path) >= MAX_DEPTH:
        refuse(path, f"it is nested deeper than {MAX_DEPTH} levels")


def _container(value: Any, path: Path) -> None:
    within_depth(path)
    if type(value) is not dict:
        for index, item in enumerate(value):
            blame(item, (*path, index))
        return
    for key, item in value.items():
        if type(key) is not str:
            refuse(path, f"its key {key!r:.60} is a {type(key).__name__}, not a string")
        shown = key.encode("utf-8", "backslashreplace").decode()
        _text(key, (*path, shown))
        blame(item, (*path, key))


def _text(value: str, path: Path) -> None:
    if any("\ud800" <= character <= "\udfff" for character in value):
        refuse(path, "a lone surrogate is not Unicode text")


def _integer(value: int, path: Path) -> None:
    if not -MAX_INTEGER <= value <= MAX_INTEGER:
        refuse(path, "the integer is beyond ±(2^53 - 1), where JSON readers lose digits", "Send it as a string.")


def _hint(value: Any) -> str:
    match value:
        case bytes() | bytearray() | memoryview():
            return "Send bytes as base64 text, or by reference."
        case set() | frozenset():
            return "Send a sorted list."
        case str() | int() | float() | dict() | list() | tuple():
            plain = next(base.__name__ for base in type(value).__mro__ if base in _PLAIN)
            return f"Convert it to a plain {plain} first."
        case _:
            return "Send it as a string in a format the schema names."
