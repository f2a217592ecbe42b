"""The JSON reader: the value read is the value written, or the text is refused."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import orjson

from perdure.errors import PayloadIntegrityError, PayloadTooLargeError, SchemaViolationError
from perdure.payload.canonical_json import canonical, flat, quick
from perdure.payload.json_numbers import MAX_INTEGER, spell

BUDGET_BYTES = 65536
"""What a payload may weigh unless its verb says otherwise."""

Settled = tuple[bytes, Any]
"""The canonical bytes of a value, and the value that is read back from them: a copy nobody else holds."""

_DIGITS = frozenset(b"0123456789")
_ALIKE = bytes(ord("0") if byte in _DIGITS else ord(" ") for byte in range(256))
_LONG_NUMBER = b"0" * 16

_CONTAINERS = frozenset({dict, list})


def parse(data: bytes, *, max_bytes: int = BUDGET_BYTES, canonical_only: bool = False) -> Any:
    """One JSON value from its bytes.

    Refuses duplicate keys, integers a double cannot hold, nesting beyond 100 levels and more than `max_bytes`;
    with `canonical_only` also every byte sequence that is not the canonical form of its value.
    """
    if len(data) > max_bytes:
        raise PayloadTooLargeError(
            "read",
            "JSON",
            f"{len(data)} bytes",
            f"at most {max_bytes} are allowed",
            size=len(data),
            max_bytes=max_bytes,
        )
    try:
        value = orjson.loads(data)
    except ValueError as error:
        _malformed(str(error))
    written = quick(value)
    if written is None or (written != data and _may_hide_a_key(data, written)):
        value = _read_exactly(data)
        written = canonical(value)
    if canonical_only and written != data:
        raise not_canonical(data, written)
    return value


def copied(value: Any) -> Any:
    """JSON that nobody else has: who changes it changes nothing of what is kept."""
    if type(value) is dict:
        if _CONTAINERS.isdisjoint(map(type, value.values())):
            return value.copy()
        return {name: copied(each) if type(each) in _CONTAINERS else each for name, each in value.items()}
    return [copied(each) for each in value] if type(value) is list else value


def settled(value: Any) -> Settled:
    data = flat(value)
    if data is not None:
        return data, orjson.loads(data)  # no floats, so no long numbers
    data = canonical(value)
    return data, value_of(data)


def value_of(data: bytes) -> Any:
    """The value behind canonical bytes of our own; only a long run of digits needs the careful reader."""
    # All digits made alike first: far quicker than a pattern that is tried at every byte.
    return parse(data, max_bytes=len(data)) if _LONG_NUMBER in data.translate(_ALIKE) else orjson.loads(data)


def not_canonical(data: bytes, written: bytes) -> PayloadIntegrityError:
    """The error for bytes that mean the right thing but are not its one spelling."""
    at = next((i for i, (a, b) in enumerate(zip(data, written, strict=False)) if a != b), min(len(data), len(written)))
    expected, actual = (side[at : at + 24].decode(errors="replace") for side in (written, data))
    return PayloadIntegrityError(
        "read",
        "JSON",
        f"{len(data)} bytes",
        f"the canonical form differs from byte {at}: expected {expected!r}, actual {actual!r}",
        "Payloads travel as RFC 8785 text; nothing may reformat them.",
        differs="canonical form",
        expected=expected,
        actual=actual,
        position=at,
    )


def _may_hide_a_key(data: bytes, written: bytes) -> bool:
    """A dropped duplicate key takes its colon along; only an escaped colon in the text could make up for it."""
    return data.count(b":") != written.count(b":") or b"\\u003" in data


def _read_exactly(data: bytes) -> Any:
    try:
        return json.loads(data, object_pairs_hook=_object, parse_int=_integer)
    except RecursionError:
        _malformed("it is nested too deeply")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        _malformed(f"the key {twice!r:.60} appears twice in one object")
    return value


def _integer(text: str) -> int | float:
    """Beyond 2^53 only the canonical spelling of a double is read, and as that double."""
    digits = text.lstrip("-")
    if len(digits) <= 16 and int(digits) <= MAX_INTEGER:
        return int(text)
    if len(digits) > 21 or spell(float(text)) != text:
        _malformed(f"the integer {text[:24]} is beyond ±(2^53 - 1), where digits are lost", "Send it as a string.")
    return float(text)


def _malformed(fact: str, hint: str = "") -> NoReturn:
    raise SchemaViolationError("read", "JSON", "(root)", fact, hint, path="", violations=[{"path": "", "reason": fact}])
