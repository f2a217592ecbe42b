"""The payload: one envelope, one canonical form, one way in and out."""

from __future__ import annotations

from perdure.payload.canonical_json import canonical
from perdure.payload.data_merge import (
    MergeRule,
    changed_paths,
    is_untouched,
    merge,
    merge_concurrent,
    merge_settled,
    ruled_part,
)
from perdure.payload.delta import MAX_DELTAS, NotADeltaError, Stored, apply_delta, delta_of, encode_delta
from perdure.payload.digests import data_hash, digest, digest_text, parse_digest
from perdure.payload.engine_codec import Check, pack, unpack
from perdure.payload.envelope import TRAIL_LENGTH, Envelope, Packed, TrailEntry, with_data, with_trail
from perdure.payload.incremental_codec import Held, Sealed, pack_change, pack_first, unpack_and_keep
from perdure.payload.json_faults import MAX_DEPTH, pointer
from perdure.payload.json_reader import BUDGET_BYTES, Settled, copied, parse, settled, value_of
from perdure.payload.references import is_reference
from perdure.payload.stored_value import NO_CARGO, Cargo, cargo_of

__all__ = [
    "BUDGET_BYTES",
    "MAX_DELTAS",
    "MAX_DEPTH",
    "NO_CARGO",
    "TRAIL_LENGTH",
    "Cargo",
    "Check",
    "Envelope",
    "Held",
    "MergeRule",
    "NotADeltaError",
    "Packed",
    "Sealed",
    "Settled",
    "Stored",
    "TrailEntry",
    "apply_delta",
    "canonical",
    "cargo_of",
    "changed_paths",
    "copied",
    "data_hash",
    "delta_of",
    "digest",
    "digest_text",
    "encode_delta",
    "is_reference",
    "is_untouched",
    "merge",
    "merge_concurrent",
    "merge_settled",
    "pack",
    "pack_change",
    "pack_first",
    "parse",
    "parse_digest",
    "pointer",
    "ruled_part",
    "settled",
    "unpack",
    "unpack_and_keep",
    "value_of",
    "with_data",
    "with_trail",
]
