"""Merkle trees as RFC 6962 defines them: leaves and nodes are hashed differently, an odd node moves up."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256


def leaf_hash(data: bytes) -> bytes:
    return sha256(b"\0" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()


def root(leaves: Sequence[bytes]) -> bytes:
    """The root over the leaves in their order."""
    level = [leaf_hash(leaf) for leaf in leaves]
    while len(level) > 1:
        level = _parents(level)
    return level[0] if level else sha256(b"").digest()


def proof(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The siblings on the way from one leaf to the root."""
    level = [leaf_hash(leaf) for leaf in leaves]
    path: list[bytes] = []
    while len(level) > 1:
        if index ^ 1 < len(level):
            path.append(level[index ^ 1])
        level, index = _parents(level), index // 2
    return path


def root_of_proof(leaf: bytes, index: int, count: int, path: Sequence[bytes]) -> bytes | None:
    """The root a proof leads to; None when it has the wrong length for its place."""
    if not 0 <= index < count:
        return None
    hash, siblings = leaf_hash(leaf), list(reversed(path))
    while count > 1:
        if index ^ 1 < count:
            if not siblings:
                return None
            sibling = siblings.pop()
            hash = node_hash(sibling, hash) if index & 1 else node_hash(hash, sibling)
        index, count = index // 2, (count + 1) // 2
    return None if siblings else hash


def _parents(level: list[bytes]) -> list[bytes]:
    parents = [node_hash(level[place], level[place + 1]) for place in range(0, len(level) - 1, 2)]
    if len(level) % 2:
        parents.append(level[-1])
    return parents
