"""The envelope: data, what governs it and who touched it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

TRAIL_LENGTH = 20
"""How many trail entries travel along; the full stream is behind `trail_ref`."""

SchemaName = Annotated[str, msgspec.Meta(pattern=r"^[^\s/]{1,200}/v[1-9][0-9]{0,9}\Z")]
DigestText = Annotated[str, msgspec.Meta(pattern=r"^sha256:[0-9a-f]{64}\Z")]
# A pattern per trail entry would cost more than the whole crossing; the length catches truncation.
TrailDigest = Annotated[str, msgspec.Meta(min_length=71, max_length=71)]


# Fields stand in the order of their names: written in this order they are canonical already.
class TrailEntry(msgspec.Struct, frozen=True, gc=False, kw_only=True, forbid_unknown_fields=True):
    """One sub-verb's passage: who, when, and the data hash before and after."""

    at: str
    by: str
    hash_in: TrailDigest
    hash_out: TrailDigest
    job_key: str
    verb: str


class Envelope(msgspec.Struct, frozen=True, gc=False, kw_only=True, forbid_unknown_fields=True):
    """A domain payload. `schema_hash` is, by its old name, the hash of `data`; the schema's own is `schema_digest`.

    An empty `schema_hash` means "not computed yet": `pack` fills it in, and a filled one must be right.
    """

    created_at: str
    data: Any
    last_modified_by: str
    schema: SchemaName
    schema_digest: DigestText
    schema_hash: str = ""
    sub_verb_trail: Annotated[tuple[TrailEntry, ...], msgspec.Meta(max_length=TRAIL_LENGTH)] = ()
    trail_ref: str | None = None


class Packed(msgspec.Struct, frozen=True, gc=False):
    """What an engine sees of a payload: an opaque string and the hash of its exact bytes."""

    domain_payload: str
    domain_payload_hash: str


def with_trail(envelope: Envelope, entry: TrailEntry) -> Envelope:
    """The envelope with one more trail entry; the oldest beyond twenty is dropped."""
    return msgspec.structs.replace(envelope, sub_verb_trail=(*envelope.sub_verb_trail, entry)[-TRAIL_LENGTH:])


def with_data(envelope: Envelope, data: Any, *, by: str) -> Envelope:
    """The envelope carrying new data, its hash to be computed when packed."""
    return msgspec.structs.replace(envelope, data=data, schema_hash="", last_modified_by=by)
