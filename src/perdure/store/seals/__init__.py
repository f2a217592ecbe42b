"""Seals: signed Merkle roots over the heads that changed, chained one to the next.

A chain of records protects one aggregate against change; only somebody who remembers the heads can tell that
a whole aggregate was removed or its chain written anew. Seals remember them, under a key the database never holds.
"""

from perdure.store.seals.merkle import Step, proof, root, root_of_proof
from perdure.store.seals.seal import FIRST_PREVIOUS, SEALED_AT_ONCE, Leaf, Seal, heads_of, pack, seal_hash, unpack

__all__ = [
    "FIRST_PREVIOUS",
    "SEALED_AT_ONCE",
    "Leaf",
    "Seal",
    "Step",
    "heads_of",
    "pack",
    "proof",
    "root",
    "root_of_proof",
    "seal_hash",
    "unpack",
]
