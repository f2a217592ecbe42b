"""Seal keys: the key in force, the changes from one key to the next, and the keys that follow from those one trusts.

| the key file | the store | sealing |
|---|---|---|
| is missing | has no seals | makes a key |
| is missing | has seals | stops: bring the file back, or `perdure audit rotate-key` |
| holds the key in force | | goes on |
| holds another key | has seals | stops: bring the key in force back, or `perdure audit rotate-key` |
| | lacks the seal that was noted beside the key | stops: a backup was restored, or seals were removed |

The journal tells of each key when its first seal is written, or when it replaces another. The new key signs the old
one and the old key, where it still exists, signs the new one: who trusts either trusts both.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from perdure.journal.row_digests import read_row, row_digest, row_prefix, row_record
from perdure.store.ports import Row
from perdure.store.row_journal import IN_FORCE, SEAL_KEY
from perdure.store.signing_keys import PublicKeys, SigningKey, is_signed, key_id_of
from perdure.typed_reading import read_msgpack

BEYOND = b"\xff" * 8
Fetch = Callable[..., Awaitable[list[Row]]]


class KeyChange(msgspec.Struct, frozen=True, array_like=True):
    """A key came into force at `at`, when so many seals were written; `previous` is the one it replaced."""

    public: bytes
    previous: bytes
    at: int
    sealed: int
    reason: str
    by_previous: bytes
    by_new: bytes

    @property
    def key_id(self) -> str:
        return key_id_of(self.public)

    @property
    def previous_id(self) -> str:
        return key_id_of(self.previous) if self.previous else ""


def change_of(key: SigningKey, at: int, sealed: int, reason: str = "", old: SigningKey | bytes = b"") -> KeyChange:
    """The change to a key, from an old one or from no more than its public half."""
    previous = old.public if isinstance(old, SigningKey) else old
    statement = _statement(key.public, previous, at, sealed, reason)
    by_previous = old.sign(statement) if isinstance(old, SigningKey) else b""
    return KeyChange(key.public, previous, at, sealed, reason, by_previous, key.sign(statement))


def record_of(change: KeyChange) -> dict[str, Any]:
    """The record that tells the journal of a change."""
    kept = msgspec.msgpack.encode(change)
    id, body, hash = row_record(SEAL_KEY, IN_FORCE, row_digest(SEAL_KEY, kept), change.at, kept)
    return {"aggregate": id, "body": body, "hash": hash}


async def key_changes(fetch: Fetch) -> list[KeyChange]:
    """Every change of keys the journal tells of, oldest first."""
    prefix = row_prefix(SEAL_KEY, IN_FORCE)
    rows = await fetch("row_records_between", after=prefix, until=prefix + BEYOND)
    found = []
    for id, _, body, hash, _ in sorted(rows, key=lambda row: row[4]):
        record = read_row(bytes(id), bytes(body), bytes(hash))
        if record is not None and record.table == SEAL_KEY:
            found.append(read_msgpack(record.kept, KeyChange))
    return found


def trusted_keys(given: PublicKeys, changes: Sequence[KeyChange]) -> dict[str, bytes]:
    """The keys given, and those that follow from them by signed changes, in both directions."""
    keys = dict(given)
    for _ in changes:
        for each in changes:
            statement = _statement(each.public, each.previous, each.at, each.sealed, each.reason)
            if each.key_id in keys and each.previous and is_signed(each.public, each.by_new, statement):
                keys.setdefault(each.previous_id, each.previous)
            if each.previous_id in keys and is_signed(each.previous, each.by_previous, statement):
                keys.setdefault(each.key_id, each.public)
    return keys


def known_keys(given: PublicKeys, changes: Sequence[KeyChange]) -> dict[str, bytes]:
    """Every key there is a name for, to travel with the seals: for convenience, not for trust."""
    before = {each.previous_id: each.previous for each in changes if each.previous}
    return {**before, **{each.key_id: each.public for each in changes}, **given}


def told_changes(changes: Sequence[KeyChange]) -> list[str]:
    """Changes from one key to another as text, to travel with the seals."""
    return [base64.b64encode(msgspec.msgpack.encode(each)).decode() for each in changes if each.previous]


def read_changes(told: Sequence[str]) -> list[KeyChange]:
    return [read_msgpack(base64.b64decode(each, validate=True), KeyChange) for each in told]


def _statement(public: bytes, previous: bytes, at: int, sealed: int, reason: str) -> bytes:
    return b"perdure.seal-key/1\0" + msgspec.msgpack.encode((public, previous, at, sealed, reason))
