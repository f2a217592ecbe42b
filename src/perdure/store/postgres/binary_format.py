"""Values in the server's binary form: single ones, arrays for set-based statements, and rows of an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct, pack
from typing import Any

from psycopg.pq.abc import PGresult

from perdure.errors import InvariantBroken

Encoder = Callable[[Sequence[Any]], bytes]

BOOLEAN, BYTEA, BIGINT, INTEGER, TEXT = 16, 17, 20, 23, 25
_HEAD = Struct(">iiIii").pack
_LENGTHS = tuple(pack(">i", length) for length in range(4096))
_NULL = pack(">i", -1)
_BIGINT = Struct(">q").pack


def value(given: Any) -> bytes | None:
    """One parameter: every column of ours is a bigint, a text or bytes."""
    if given is None or type(given) is bytes:
        return given
    if isinstance(given, int):
        return _BIGINT(given)
    if isinstance(given, str):
        return given.encode()
    if isinstance(given, bytes | bytearray | memoryview):
        return bytes(given)
    raise InvariantBroken("store", "value", type(given).__name__, "only numbers, text and bytes are stored")


def bytea_array(values: Sequence[bytes | None]) -> bytes:
    return _array(BYTEA, values)


def text_array(values: Sequence[str | None]) -> bytes:
    return _array(TEXT, [None if each is None else each.encode() for each in values])


def bigint_array(values: Sequence[int]) -> bytes:
    count = len(values)
    flat = [8] * (2 * count)
    flat[1::2] = values
    return _HEAD(1, 0, BIGINT, count, 1) + pack(">" + "iq" * count, *flat)


def _array(element: int, values: Sequence[bytes | None]) -> bytes:
    has_null = 0
    parts = [b""]
    add = parts.append
    for each in values:
        if each is None:
            has_null = 1
            add(_NULL)
        else:
            length = len(each)
            add(_LENGTHS[length] if length < 4096 else pack(">i", length))
            add(each)
    parts[0] = _HEAD(1, has_null, element, len(values), 1)
    return b"".join(parts)


ARRAYS: dict[str, Encoder] = {"bytea": bytea_array, "text": text_array, "bigint": bigint_array}


def _bigint(data: bytes) -> int:
    return int.from_bytes(data, "big", signed=True)


LOADERS: dict[int, Callable[[bytes], Any]] = {
    BOOLEAN: lambda data: data != b"\0", BYTEA: bytes, BIGINT: _bigint, INTEGER: _bigint, TEXT: bytes.decode,
}  # fmt: skip
"""From the types our queries answer with; any other is a mistake in a query."""


def rows_of(result: PGresult) -> list[tuple[Any, ...]]:
    """Every row of an answer."""
    if not result.ntuples:
        return []
    loaders = [LOADERS[result.ftype(column)] for column in range(result.nfields)]
    get = result.get_value
    return [
        tuple([
            None if (data := get(row, column)) is None else load(data) for column, load in enumerate(loaders)
        ])
        for row in range(result.ntuples)
    ]  # fmt: skip
