"""Row digests (anchors): the journal answers by them for rows that no state stands for.

| row | its anchor is |
|---|---|
| message, idempotency key, index entry, version of an entity | in the record it is committed with (`Record.anchors`) |
| message of no aggregate, definition, answer, cursor, lease, note of damage, message of a channel | `row_record` |

An anchor names its table, and the row where a reader must be able to look for it. The newest record of a row says how
the row stands; one without a digest says that the row is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from perdure.journal.chain import genesis, link

ROW_PREFIX = b"\xff" * 4
"""The ids of aggregates begin with a time or are hashes: of hashes one in four thousand million looks like this."""
ROW_FORM = "perdure.row/1"
ROW_KIND = "row"
_NAME_BYTES = 5
_ENCODER = msgspec.msgpack.Encoder()
_SOURCED = {0x96: b"\xc0", 0x97: b""}
_ANCHORED = {0x96: b"\xc0\x90", 0x97: b"\x90", 0x98: b""}
"""By the first byte of a record without anchors: what stands for the source it lacks."""


class Anchor(NamedTuple):
    """The digest of one row; `name` finds the row where the aggregate alone does not."""

    table: str
    name: str
    digest: bytes


class RowRecord(NamedTuple):
    """A record of one row by itself: how the row stands since `at`, and what else is to be kept of it."""

    form: str
    table: str
    key: tuple[str, ...]
    digest: bytes
    at: int
    kept: bytes = b""


_ROWS = msgspec.msgpack.Decoder(RowRecord)


def row_digest(*columns: Any) -> bytes:
    """The digest of a row's columns, in their order."""
    return sha256(_ENCODER.encode(columns)).digest()


def anchored(body: bytes, anchors: Sequence[Anchor]) -> bytes:
    """The bytes of a record with anchors added to them."""
    return b"\x98" + body[1:] + _SOURCED[body[0]] + _ENCODER.encode(anchors)


def keyed(body: bytes, key: str) -> bytes:
    """The bytes of a record with the key added to them by which it was asked for."""
    return b"\x99" + body[1:] + _ANCHORED[body[0]] + _ENCODER.encode(key)


def row_prefix(table: str, key: tuple[str, ...]) -> bytes:
    """The beginning of the ids of all records of one row."""
    return ROW_PREFIX + sha256("\0".join((table, *key)).encode("utf-8", "surrogatepass")).digest()[:_NAME_BYTES]


def row_record(
    table: str, key: tuple[str, ...], digest: bytes, at: int, kept: bytes = b""
) -> tuple[bytes, bytes, bytes]:
    """A record of one row: its id, its bytes and its hash."""
    body = _ENCODER.encode(RowRecord(ROW_FORM, table, key, digest, at, kept))
    id = row_prefix(table, key) + sha256(body).digest()[: 16 - len(ROW_PREFIX) - _NAME_BYTES]
    return id, body, row_hash(id, body)


def row_hash(id: bytes, body: bytes) -> bytes:
    return link(genesis("", ROW_KIND, id), body)


def read_row(id: bytes, body: bytes, hash: bytes) -> RowRecord | None:
    """The record of a row behind its bytes; None when it is none, or not the one that was written."""
    try:
        record = _ROWS.decode(body)
        is_whole = record.form == ROW_FORM and row_record(*record[1:]) == (id, body, hash)
    except (ValueError, RecursionError):
        return None
    return record if is_whole else None
