"""Deltas: a payload is stored as a change of an earlier one and rebuilt when it is read.

| stored | begins with | is |
|---|---|---|
| whole | `{` | the bytes of the payload |
| a change | `00 01` | MessagePack: the hash of the payload before, the data, when, by whom, job key, verb |

A change is made again by the function that made it, and counts only if it has its hash. So many of them lean on each
other at most; then one is stored whole, and so is the first after a payload that was read back.
"""

from __future__ import annotations

from typing import NoReturn

import msgspec

from perdure.errors import PerdureError
from perdure.payload.incremental_codec import Held, Sealed, pack_change
from perdure.payload.json_reader import BUDGET_BYTES, Settled, value_of

MAX_DELTAS = 15
"""How many payloads are read at most before one that is whole."""
_MARK = b"\0\1"
_UNREADABLE = (msgspec.MsgspecError, PerdureError, ValueError)


class Stored(msgspec.Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """A change: `base` is the hash of the payload it was made of, `data` the canonical bytes of what it holds."""

    base: bytes
    data: bytes
    at: str
    by: str
    job_key: str
    verb: str


class NotADeltaError(Exception):
    """Bytes that are marked as a change and are none, or none of that payload."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Stored).decode


def encode_delta(
    base: bytes, before: Held, data: Settled, *, at: str, by: str, job_key: str, verb: str,
    max_bytes: int = BUDGET_BYTES,
) -> tuple[Sealed, Held]:  # fmt: skip
    """What `pack_change` makes of the payload whose hash is `base`, as it is stored."""
    sealed, held = pack_change(before, data, at=at, by=by, job_key=job_key, verb=verb, max_bytes=max_bytes)
    if held.leans > MAX_DELTAS:
        return sealed, msgspec.structs.replace(held, leans=0)
    return (sealed[0], _MARK + _encode((base, data[0], at, by, job_key, verb))), held


def delta_of(stored: bytes) -> Stored | None:
    """The change that bytes stand for; None when they are a whole payload."""
    if not stored.startswith(_MARK):
        return None
    try:
        return _decode(stored[len(_MARK) :])
    except msgspec.MsgspecError as error:
        _no_change(error)


def apply_delta(before: Held, change: Stored) -> tuple[Sealed, Held]:
    """The payload a change was stored for; whether it is the one that is wanted, its hash says."""
    try:
        data = change.data, value_of(change.data)
        return pack_change(
            before, data, at=change.at, by=change.by, job_key=change.job_key, verb=change.verb,
            max_bytes=before.size + len(change.data) + BUDGET_BYTES,
        )  # fmt: skip
    except _UNREADABLE as error:
        _no_change(error)


def _no_change(error: Exception) -> NoReturn:
    raise NotADeltaError(str(error)) from error
