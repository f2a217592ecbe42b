"""Which payloads a state needs, and which its history ever spoke of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from perdure.journal import Machine

HASH_BYTES = 32


class Named(NamedTuple):
    """The hashes a state needs bytes for; none when its data was erased."""

    needed: frozenset[bytes]
    is_erased: bool


def named_by(machine: Machine[Any, Any, Any], state: Any) -> Named:
    hashes, is_erased = machine.payloads(state)
    return Named(frozenset(() if is_erased else hashes), is_erased)


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
