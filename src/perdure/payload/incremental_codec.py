"""Payloads at hand: packed once, and from then on only what a change brings is looked at and written."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Any, NoReturn

import msgspec

from perdure.payload.engine_codec import Pair, differs, encode, too_large, unpack
from perdure.payload.envelope import TRAIL_LENGTH, DigestText, Packed, SchemaName, TrailEntry
from perdure.payload.json_reader import BUDGET_BYTES, Settled, settled

Sealed = tuple[bytes, bytes]
"""A payload as it is stored: the hash of its bytes, and they."""

_UNWRITABLE = (msgspec.MsgspecError, TypeError, UnicodeEncodeError)


class Held(msgspec.Struct, frozen=True, gc=False):
    """What stays of a payload: its data, a copy nobody else has, and what the one made of it is written with.

    `frame` is the envelope with blanks, `created` and `trail` are parts of it as they were written, `size` counts all.
    `leans` says how many payloads before it are needed to read it from the store.
    """

    data: Any
    schema_hash: str
    size: int
    frame: bytes
    created: bytes
    trail: tuple[bytes, ...] = ()
    leans: int = 0

    @property
    def sub_verb_trail(self) -> tuple[TrailEntry, ...]:
        return tuple([_read_entry(entry) for entry in self.trail])


class _Named(msgspec.Struct, frozen=True, gc=False):
    """What instances share of their envelopes."""

    schema: SchemaName
    schema_digest: DigestText
    trail_ref: str | None


_read_entry = msgspec.json.Decoder(TrailEntry).decode
_read_name = msgspec.json.Decoder(_Named).decode


def pack_first(
    data: Any, *, created_at: str, by: str, schema: str, schema_digest: str, max_bytes: int = BUDGET_BYTES,
    trail_ref: str | None = None,
) -> tuple[Sealed, Held]:  # fmt: skip
    """An envelope that nobody has changed yet as `pack` writes it, and what is kept of it."""
    raw, own = settled(data)
    hash = "sha256:" + sha256(raw).hexdigest()
    try:
        "".join((created_at, by))  # what is no text is refused here, not written as something else
        frame, created = _frame(schema, schema_digest, trail_ref), encode(created_at)
        written = frame % (created, raw, encode(by), hash.encode(), b"")
    except _UNWRITABLE as error:
        _unwritable(str(schema)[:80], error)
    if len(written) > max_bytes:
        too_large("pack", schema, written, max_bytes)
    return (sha256(written).digest(), written), Held(own, hash, len(written), frame, created)


def pack_change(
    before: Held, data: Settled, *, at: str, by: str, job_key: str, verb: str, max_bytes: int = BUDGET_BYTES
) -> tuple[Sealed, Held]:
    """The same for an envelope made of another one: new data, and the trail entry of whoever changed it."""
    raw, own = data
    hash = "sha256:" + sha256(raw).hexdigest()
    entry = TrailEntry(at=at, by=by, hash_in=before.schema_hash, hash_out=hash, job_key=job_key, verb=verb)
    try:
        "".join((at, by, job_key, verb))  # as above
        trail = (*before.trail, encode(entry))
        if len(trail) > TRAIL_LENGTH:
            trail = trail[-TRAIL_LENGTH:]
        written = before.frame % (before.created, raw, encode(verb), hash.encode(), b",".join(trail))
    except _UNWRITABLE as error:
        _unwritable(_schema_of(before.frame), error)
    size = len(written)
    if size > max_bytes:
        too_large("pack", _schema_of(before.frame), written, max_bytes)
    return (sha256(written).digest(), written), Held(
        own, hash, size, before.frame, before.created, trail, before.leans + 1
    )


def unpack_and_keep(packed: Packed | Pair, *, max_bytes: int = BUDGET_BYTES) -> Held:
    """What `unpack` reads, every byte accounted for, as it is kept for the change that comes next."""
    envelope = unpack(packed, max_bytes=max_bytes)
    text = packed[0] if isinstance(packed, tuple) else packed.domain_payload
    frame = _frame(envelope.schema, envelope.schema_digest, envelope.trail_ref)
    trail = tuple(map(encode, envelope.sub_verb_trail))
    return Held(envelope.data, envelope.schema_hash, len(text.encode()), frame, encode(envelope.created_at), trail)


def _frame(schema: str, schema_digest: str, trail_ref: str | None) -> bytes:
    """The written envelope with blanks: when it was created, data, who modified it last, the data's hash, the trail."""
    msgspec.convert(trail_ref, str | None)
    return b"".join((_shared_frame(schema, schema_digest), encode(trail_ref).replace(b"%", b"%%"), b"}"))


@lru_cache(1024)
def _shared_frame(schema: str, schema_digest: str) -> bytes:
    """The part of it that all payloads of one schema share: everything but what the trail refers to."""
    msgspec.convert({"schema": schema, "schema_digest": schema_digest, "trail_ref": None}, _Named)
    names = [encode(name).replace(b"%", b"%%") for name in (schema, schema_digest)]
    return b"".join((
        b'{"created_at":%b,"data":%b,"last_modified_by":%b,"schema":', names[0], b',"schema_digest":', names[1],
        b',"schema_hash":"%b","sub_verb_trail":[%b],"trail_ref":',
    ))  # fmt: skip


def _schema_of(frame: bytes) -> str:
    return _read_name(frame % (b'""', b"0", b'""', b"", b"")).schema


def _unwritable(name: str, error: Exception) -> NoReturn:
    differs("pack", name, "envelope field", "a well-formed envelope", str(error), cause=error)
