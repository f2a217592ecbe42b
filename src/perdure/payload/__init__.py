"""The payload: one envelope, one canonical form, one way in and out."""

from __future__ import annotations

from perdure.payload.canonical import canonical
from perdure.payload.cargo import NO_CARGO, Cargo, cargo_of
from perdure.payload.crossing import Check, pack, unpack
from perdure.payload.digests import data_hash, digest, digest_text, parse_digest
from perdure.payload.envelope import TRAIL_LENGTH, Envelope, Packed, TrailEntry, with_data, with_trail
from perdure.payload.faults import MAX_DEPTH, pointer
from perdure.payload.keeping import Held, Sealed, pack_change, pack_first, unpack_and_keep
from perdure.payload.leaning import MOST_LEANS, NotAChangeError, Stored, change_of, made_again, seal_leaning
from perdure.payload.merging import MergeRule, changed_paths, is_untouched, merge, merge_concurrent, merge_settled
from perdure.payload.parsing import BUDGET_BYTES, Settled, copied, parse, settled, value_of
from perdure.payload.references import is_reference

__all__ = [
    "BUDGET_BYTES",
    "MAX_DEPTH",
    "MOST_LEANS",
    "NO_CARGO",
    "TRAIL_LENGTH",
    "Cargo",
    "Check",
    "Envelope",
    "Held",
    "MergeRule",
    "NotAChangeError",
    "Packed",
    "Sealed",
    "Settled",
    "Stored",
    "TrailEntry",
    "canonical",
    "cargo_of",
    "change_of",
    "changed_paths",
    "copied",
    "data_hash",
    "digest",
    "digest_text",
    "is_reference",
    "is_untouched",
    "made_again",
    "merge",
    "merge_concurrent",
    "merge_settled",
    "pack",
    "pack_change",
    "pack_first",
    "parse",
    "parse_digest",
    "pointer",
    "seal_leaning",
    "settled",
    "unpack",
    "unpack_and_keep",
    "value_of",
    "with_data",
    "with_trail",
]
