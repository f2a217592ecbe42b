"""Cargo: a value in its stored form, with the hash it is known by."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

from perdure.payload.json_reader import settled


class Cargo(msgspec.Struct, frozen=True, eq=False):
    """Canonical bytes, the value read back from them, which nobody else holds, and their raw SHA-256."""

    data: bytes
    value: Any
    hash: bytes


NO_CARGO = Cargo(b"", None, b"")


def cargo_of(value: Any) -> Cargo:
    """The stored form of a JSON value."""
    data, own = settled(value)
    return Cargo(data, own, sha256(data).digest())
