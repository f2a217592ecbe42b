"""The payload: one envelope, one canonical form, one way in and out."""

from __future__ import annotations

from perdure.payload.canonical import canonical
from perdure.payload.crossing import Check, pack, pack_and_keep, pack_change, unpack
from perdure.payload.digests import data_hash, digest, digest_text, parse_digest
from perdure.payload.envelope import TRAIL_LENGTH, Envelope, Packed, TrailEntry, with_data, with_trail
from perdure.payload.faults import MAX_DEPTH, pointer
from perdure.payload.merging import MergeRule, changed_paths, is_untouched, merge, merge_concurrent
from perdure.payload.parsing import BUDGET_BYTES, parse, value_of
from perdure.payload.references import is_reference

__all__ = [
    "BUDGET_BYTES",
    "MAX_DEPTH",
    "TRAIL_LENGTH",
    "Check",
    "Envelope",
    "MergeRule",
    "Packed",
    "TrailEntry",
    "canonical",
    "changed_paths",
    "data_hash",
    "digest",
    "digest_text",
    "is_reference",
    "is_untouched",
    "merge",
    "merge_concurrent",
    "pack",
    "pack_and_keep",
    "pack_change",
    "parse",
    "parse_digest",
    "pointer",
    "unpack",
    "value_of",
    "with_data",
    "with_trail",
]
