"""A seal: what it covers, how that is packed, and the hash that is signed."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import NamedTuple

from perdure.store.ports import Row

SEALED_AT_ONCE = 10_000
"""Records under one seal at most; more of them get more seals."""

FIRST_PREVIOUS = sha256(b"perdure\0seals").digest()
_SEQUENCE_BYTES = 4
_LEAF_BYTES = 16 + _SEQUENCE_BYTES


class Leaf(NamedTuple):
    """A head: the newest record of one aggregate. The hash is not stored, it comes from the journal."""

    aggregate: bytes
    sequence: int
    hash: bytes

    def data(self) -> bytes:
        """The bytes the Merkle tree is made of."""
        return self.aggregate + self.sequence.to_bytes(_SEQUENCE_BYTES, "big") + self.hash


class Seal(NamedTuple):
    """One row of the seal table. `cursor` is the journal position it reaches to, `at` is in microseconds."""

    number: int
    at: int
    cursor: int
    leaves: bytes
    root: bytes
    previous: bytes
    hash: bytes
    key_id: str
    signature: bytes

    @classmethod
    def from_row(cls, row: Row) -> Seal:
        number, at, cursor, leaves, root, previous, hash, key_id, signature = row
        return cls(
            number, at, cursor, bytes(leaves), bytes(root), bytes(previous), bytes(hash), key_id, bytes(signature)
        )


def heads_of(records: Iterable[Row]) -> list[Leaf]:
    """The newest record per aggregate in the order of ids, from rows (position, aggregate, sequence, hash)."""
    return [Leaf(id, row[2], bytes(row[3])) for id, row in _newest(records)]


def pack(records: Iterable[Row]) -> tuple[bytes, list[bytes]]:
    """What a seal keeps of the heads among such rows, and the bytes its Merkle tree is made of."""
    newest = _newest(records)
    places = [id + row[2].to_bytes(_SEQUENCE_BYTES, "big") for id, row in newest]
    return b"".join(places), [place + row[3] for place, (_, row) in zip(places, newest, strict=True)]


def _newest(records: Iterable[Row]) -> list[tuple[bytes, Row]]:
    newest: dict[bytes, Row] = {}
    for row in records:
        id = bytes(row[1])
        known = newest.get(id)
        if known is None or known[2] < row[2]:
            newest[id] = row
    return sorted(newest.items())


def unpack(data: bytes) -> list[tuple[bytes, int]] | None:
    """Ids and sequences, in order; None when the bytes are not a list of leaves."""
    if len(data) % _LEAF_BYTES:
        return None
    found = [
        (data[place : place + 16], int.from_bytes(data[place + 16 : place + _LEAF_BYTES], "big"))
        for place in range(0, len(data), _LEAF_BYTES)
    ]
    ids = [id for id, _ in found]
    return found if ids and ids == sorted(set(ids)) else None


def seal_hash(previous: bytes, number: int, at: int, cursor: int, root: bytes) -> bytes:
    """What is signed: it covers the seal before, the place in time and journal, and the root."""
    return sha256(
        previous + b"".join(part.to_bytes(8, "big", signed=True) for part in (number, at, cursor)) + root
    ).digest()
