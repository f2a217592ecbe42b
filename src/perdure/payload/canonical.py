"""The canonical form: one value, one sequence of bytes, as RFC 8785 prescribes."""

from __future__ import annotations

import re
from math import copysign
from typing import Any, NoReturn

import orjson

from perdure.errors import SchemaViolationError
from perdure.payload.numbers import MAX_INTEGER, spell

MAX_DEPTH = 100
MAX_VALUES = 1_000_000

Path = tuple[str | int, ...]

_OPTIONS = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_STRICT_INTEGER
    | orjson.OPT_PASSTHROUGH_SUBCLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_DATACLASS
)
_SCALARS = frozenset({str, int, bool, type(None), float})
_CONTAINERS = frozenset({dict, list, tuple})
_KNOWN = _SCALARS | _CONTAINERS
_ASTRAL_LEADS = (b"\xf0", b"\xf1", b"\xf2", b"\xf3", b"\xf4")
_WHOLE = re.compile(rb"\.0(?=[,}\]])")
_PLAIN_BELOW = 1e15
_PLAIN_FROM = 1e-5


def canonical(value: Any) -> bytes:
    """The RFC 8785 bytes of a JSON value; a tuple counts as a list, nothing else is converted.

    Raises SchemaViolationError, naming the path, for whatever is not JSON.
    """
    data = quick(value)
    return exact(value) if data is None else data


def quick(value: Any) -> bytes | None:
    """The canonical bytes where orjson's output is provably them, otherwise None."""
    floats = _survey(value)
    if floats is None:
        return None
    try:
        data = orjson.dumps(value, option=_OPTIONS)
    except TypeError:
        return None
    # orjson orders keys by code point, the RFC by UTF-16 unit: the same order unless a character lies beyond the BMP.
    if not data.isascii() and any(lead in data for lead in _ASTRAL_LEADS):
        return None
    return _respell(data, floats) if floats else data


def exact(value: Any) -> bytes:
    """The canonical bytes by the book: every value looked at, keys ordered, numbers spelled here."""
    return orjson.dumps(_lower(value, ()))


def pointer(path: Path) -> str:
    """A path as a JSON pointer; the whole value is the empty string."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def refuse(path: Path, fact: str, hint: str = "") -> NoReturn:
    where = pointer(path)
    raise SchemaViolationError(
        "write", "JSON value", where or "(root)", fact, hint, path=where, violations=[{"path": where, "reason": fact}]
    )


def _survey(value: Any) -> list[float] | None:
    """All floats of a value made of exact JSON types within the depth limit, level by level; None for any other."""
    floats: list[float] = []
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        kinds = set(map(type, level))
        if not kinds <= _KNOWN:
            return None
        if float in kinds:
            floats += [item for item in level if type(item) is float]
        if kinds <= _SCALARS:
            return floats
        level = _children(level)
        if len(level) > MAX_VALUES:
            refuse((), f"it holds more than {MAX_VALUES:,} values")
    return None


def _children(level: list[Any]) -> list[Any]:
    below: list[Any] = []
    for item in level:
        kind = type(item)
        if kind is dict:
            below += item.values()
        elif kind is list or kind is tuple:
            below += item
    return below


def _respell(data: bytes, floats: list[float]) -> bytes | None:
    """Whole floats lose their `.0`; None where a float is not written plainly or a string looks like one.

    Between the two bounds orjson and the RFC write the same shortest digits, apart from that `.0`. A NaN or an
    infinity fails the first comparison. More replacements than whole floats mean that a string was hit.
    """
    sizes = list(map(abs, floats))
    if not sum(sizes) < _PLAIN_BELOW:
        return None
    if min(sizes) < _PLAIN_FROM and _has_odd(floats):
        return None
    whole = sum(map(float.is_integer, floats))
    if not whole:
        return data
    spelled, replaced = _WHOLE.subn(b"", data)
    return spelled if replaced == whole else None


def _has_odd(floats: list[float]) -> bool:
    """Whether orjson may write one of these otherwise than the RFC: a tiny one, or minus zero."""
    if min(filter(None, map(abs, floats)), default=1.0) < _PLAIN_FROM:
        return True
    return any(copysign(1, number) < 0 for number in floats if not number)


def _lower(value: Any, path: Path) -> Any:
    """The value as orjson must be handed it to write the canonical form without sorting."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        return _text(value, path)
    if kind is int:
        return _integer(value, path)
    if kind is float:
        return _float(value, path)
    if kind not in _CONTAINERS:
        refuse(path, f"a {kind.__name__} is not JSON", _hint(value))
    if len(path) >= MAX_DEPTH:
        refuse(path, f"it is nested deeper than {MAX_DEPTH} levels")
    if kind is dict:
        return {key: _lower(value[key], (*path, key)) for key in _ordered(value, path)}
    return [_lower(item, (*path, index)) for index, item in enumerate(value)]


def _text(value: str, path: Path) -> str:
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        refuse(path, "a lone surrogate is not Unicode text")
    return value


def _integer(value: int, path: Path) -> int:
    if not -MAX_INTEGER <= value <= MAX_INTEGER:
        refuse(path, "the integer is beyond ±(2^53 - 1), where JSON readers lose digits", "Send it as a string.")
    return value


def _float(value: float, path: Path) -> float | orjson.Fragment:
    if _PLAIN_FROM <= abs(value) < _PLAIN_BELOW and not value.is_integer():
        return value
    try:
        return orjson.Fragment(spell(value).encode())
    except ValueError:
        refuse(path, f"{value} is not a JSON number", "Use null for a value that is not known.")


def _ordered(value: dict[Any, Any], path: Path) -> list[str]:
    for key in value:
        if type(key) is not str:
            refuse(path, f"its key {key!r:.60} is a {type(key).__name__}, not a string")
        _text(key, (*path, key.encode("utf-8", "backslashreplace").decode()))
    return sorted(value, key=lambda key: key.encode("utf-16-be"))


def _hint(value: Any) -> str:
    match value:
        case bytes() | bytearray() | memoryview():
            return "Send bytes as base64 text, or by reference."
        case set() | frozenset():
            return "Send a sorted list."
        case str() | int() | float() | dict() | list() | tuple():
            return (
                f"Convert it to a plain {next(base.__name__ for base in type(value).__mro__ if base in _KNOWN)} first."
            )
        case _:
            return "Send it as a string in a format the schema names."


__all__ = ["MAX_DEPTH", "MAX_VALUES", "Path", "canonical", "exact", "pointer", "quick", "refuse"]
