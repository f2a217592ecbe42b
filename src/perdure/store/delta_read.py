"""Payloads as they were written: those stored as changes are made again of the ones before them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from perdure.errors import PerdureError
from perdure.payload import (
    MAX_DELTAS,
    Held,
    NotADeltaError,
    Packed,
    Stored,
    apply_delta,
    delta_of,
    digest,
    unpack_and_keep,
)
from perdure.store.checksums import checked_payload, damaged_payload, missing_payload
from perdure.store.ports import Row

MOST_KEPT = 32
"""Payloads at hand while many are read: nearly always each was made of the one before it."""

Fetch = Callable[..., Awaitable[list[Row]]]


class DeltaReader:
    """Reads payloads by the queries of one store; QuarantinedError, naming what is wrong, when one cannot be read."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._kept: OrderedDict[tuple[bytes, bytes], Held | bytes] = OrderedDict()

    async def of(self, aggregate: bytes, hash: bytes, stored: Any) -> bytes:
        """The bytes behind a hash, given what is stored under it."""
        wanted, changes = hash, list[tuple[bytes, Stored]]()
        while (change := _change(aggregate, hash, stored)) is not None:
            changes.append((hash, change))
            hash = change.base
            if (aggregate, hash) in self._kept:
                break
            if len(changes) > MAX_DELTAS:
                raise damaged_payload(aggregate, wanted, f"more than {MAX_DELTAS} changes, one made of the other")
            stored = await self._base(aggregate, hash)
        else:
            self._keep(aggregate, hash, bytes(checked_payload(aggregate, hash, stored)))
        return self._made(aggregate, hash, changes)

    def _made(self, aggregate: bytes, hash: bytes, changes: list[tuple[bytes, Stored]]) -> bytes:
        """The changes made again, one of the other, from one that is at hand on."""
        found = self._kept[(aggregate, hash)]
        if not changes:
            assert isinstance(found, bytes)
            return found
        held = _unpacked(aggregate, hash, found) if isinstance(found, bytes) else found
        written = b""
        for wanted, change in reversed(changes):
            try:
                (made, written), held = apply_delta(held, change)
            except NotADeltaError as error:
                raise damaged_payload(aggregate, wanted, f"a change that does not apply ({error})") from error
            if made != wanted:
                raise damaged_payload(aggregate, wanted, f"sha256:{made.hex()}")
            self._keep(aggregate, wanted, held)
        return written

    async def _base(self, aggregate: bytes, hash: bytes) -> Any:
        rows = await self._fetch("read_payload", aggregate=aggregate, hash=hash)
        if not rows:
            raise missing_payload(aggregate, hash)
        return rows[0][0]

    def _keep(self, aggregate: bytes, hash: bytes, found: Held | bytes) -> None:
        self._kept[(aggregate, hash)] = found
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)


def is_made_of(stored: Any, hashes: set[bytes]) -> bool:
    """Whether what is stored is a change of one of these payloads."""
    try:
        change = delta_of(bytes(stored)) if not isinstance(stored, str) else None
    except NotADeltaError:
        return False
    return change is not None and change.base in hashes


def _change(aggregate: bytes, hash: bytes, stored: Any) -> Stored | None:
    if isinstance(stored, str) or digest(stored) == hash:
        return None  # text is damage by hand; what has the hash is whole, whatever it looks like
    try:
        return delta_of(bytes(stored))
    except NotADeltaError as error:
        raise damaged_payload(aggregate, hash, f"bytes that are no payload ({error})") from error


def _unpacked(aggregate: bytes, hash: bytes, whole: bytes) -> Held:
    try:
        packed = Packed(whole.decode("utf-8", "surrogateescape"), f"sha256:{hash.hex()}")
        return unpack_and_keep(packed, max_bytes=len(whole))
    except PerdureError as error:
        raise damaged_payload(aggregate, hash, f"no payload a change can be made of ({error.fact})") from error
