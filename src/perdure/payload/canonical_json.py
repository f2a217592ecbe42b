"""The canonical form: one value, one sequence of bytes, as RFC 8785 prescribes."""

from __future__ import annotations

import re
from itertools import chain
from math import copysign
from typing import Any

import orjson
from orjson import dumps

from perdure.errors import InvariantBroken
from perdure.payload.json_faults import MAX_DEPTH, blame, refuse
from perdure.payload.json_numbers import spell

MAX_VALUES = 1_000_000

_OPTIONS = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_STRICT_INTEGER
    | orjson.OPT_PASSTHROUGH_SUBCLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_DATACLASS
)
_AS_THEY_ARE = frozenset({str, int, bool, type(None)})
_SCALARS = _AS_THEY_ARE | {float}
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
    data = flat(value)
    if data is None:
        data = _nested(value)
    return exact(value) if data is None else data


def quick(value: Any) -> bytes | None:
    """The canonical bytes where orjson's output is provably them, otherwise None."""
    data = flat(value)
    return _nested(value) if data is None else data


def flat(value: Any) -> bytes | None:
    """The same for an object of texts, integers, booleans and nulls, as most data is; None for any other."""
    if type(value) is not dict or not _AS_THEY_ARE.issuperset(map(type, value.values())):
        return None
    try:
        data = dumps(value, None, _OPTIONS)
    except TypeError:
        return None
    return data if data.isascii() or _is_in_order(value, data) else None


def _nested(value: Any) -> bytes | None:
    floats = _survey(value)
    if floats is None:
        return None
    try:
        data = dumps(value, None, _OPTIONS)
    except TypeError:
        return None
    if not data.isascii() and not _is_in_order(value, data):
        return None
    return _respell(data, floats) if floats else data


def _is_in_order(value: Any, data: bytes) -> bool:
    """Whether orjson, which orders keys by code point, has them by UTF-16 unit: unless one lies beyond the BMP."""
    return not (any(lead in data for lead in _ASTRAL_LEADS) and _has_astral_key(value))


def exact(value: Any) -> bytes:
    """The canonical bytes by the book: keys ordered and odd numbers spelled here."""
    try:
        return dumps(_lower(value, MAX_DEPTH), None, _OPTIONS & ~orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError, AttributeError) as error:
        blame(value)
        raise InvariantBroken("write", "JSON value", "(root)", f"it was refused without a reason: {error}") from error


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
    sizes = list(filter(None, map(abs, floats)))
    if not sum(sizes) < _PLAIN_BELOW or (sizes and min(sizes) < _PLAIN_FROM):
        return None
    if len(sizes) < len(floats) and _has_negative_zero(floats):
        return None
    whole = sum(map(float.is_integer, floats))
    if not whole:
        return data
    spelled, replaced = _WHOLE.subn(b"", data)
    return spelled if replaced == whole else None


def _has_negative_zero(floats: list[float]) -> bool:
    return any(copysign(1, zero) < 0 for zero in [number for number in floats if not number])


def _has_astral_key(value: Any) -> bool:
    level = [value]
    while level:
        names = "".join(chain.from_iterable(item for item in level if type(item) is dict))
        if max(names, default="") > "\uffff":
            return True
        level = _children(level)
    return False


def _lower(value: Any, depth: int) -> Any:
    """The value as orjson must be handed it to write the canonical form without sorting."""
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if kind is float:
        return _float(value)
    if kind not in _CONTAINERS or not depth:
        raise TypeError(kind.__name__)
    below = depth - 1
    if kind is dict:
        return {
            key: item if type(item := value[key]) in _AS_THEY_ARE else _lower(item, below) for key in _ordered(value)
        }
    return [item if type(item) in _AS_THEY_ARE else _lower(item, below) for item in value]


def _float(value: float) -> float | orjson.Fragment:
    if _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        return int(value) if value.is_integer() else value
    return orjson.Fragment(spell(value).encode())


def _ordered(value: dict[str, Any]) -> list[str]:
    if "".join(value).isascii():
        return sorted(value)
    return sorted(value, key=lambda key: key.encode("utf-16-be"))
