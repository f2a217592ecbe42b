"""Merkle trees as RFC 6962 defines them: leaves and nodes are hashed differently, an odd node moves up."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple


def leaf_hash(data: bytes) -> bytes:
    return sha256(b"\0" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()


def root(leaves: Sequence[bytes]) -> bytes:
    """The root over the leaves in their order."""
    level = _leaves(leaves)
    while len(level) > 1:
        level = _parents(level)
    return level[0] if level else sha256(b"").digest()


class Step(NamedTuple):
    """A sibling on the way to the root, and on which side it stands."""

    is_left: bool
    hash: bytes


def proof(leaves: Sequence[bytes], index: int) -> list[Step]:
    """The siblings on the way from one leaf to the root."""
    level = _leaves(leaves)
    path: list[Step] = []
    while len(level) > 1:
        if index ^ 1 < len(level):
            path.append(Step(index % 2 == 1, level[index ^ 1]))
        level, index = _parents(level), index // 2
    return path


def root_of_proof(leaf: bytes, path: Sequence[Step]) -> bytes:
    """The root a proof leads to."""
    hash = leaf_hash(leaf)
    for step in path:
        hash = node_hash(step.hash, hash) if step.is_left else node_hash(hash, step.hash)
    return hash


def _leaves(leaves: Sequence[bytes]) -> list[bytes]:
    return [sha256(b"\0" + leaf).digest() for leaf in leaves]  # thousands of them: `leaf_hash` in one go


def _parents(level: list[bytes]) -> list[bytes]:
    parents = [sha256(b"\1" + left + right).digest() for left, right in zip(level[::2], level[1::2], strict=False)]
    if len(level) % 2:
        parents.append(level[-1])
    return parents
