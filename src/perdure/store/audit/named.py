"""Which payloads an aggregate's history ever spoke of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

HASH_BYTES = 32


def hashes_in(value: Any) -> Iterator[bytes]:
    """Every hash an entry mentions, at any depth."""
    if isinstance(value, bytes):
        if len(value) == HASH_BYTES:
            yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from hashes_in(each)
    elif isinstance(value, dict):
        yield from hashes_in(tuple(value.values()))
    elif hasattr(value, "__struct_fields__"):
        yield from hashes_in(tuple(getattr(value, field) for field in value.__struct_fields__))
