"""Payloads by their hash, without envelopes: what the pure world merges data in."""

from __future__ import annotations

from typing import Any

from perdure.engines.embedded.merging import difference
from perdure.payload import canonical, digest
from perdure.payload.merging import merge, merge_concurrent


class Heads:
    """Content-addressed data; nothing is ever changed in place."""

    def __init__(self) -> None:
        self._held: dict[bytes, dict[str, Any]] = {}

    def keep(self, data: dict[str, Any]) -> bytes:
        hash = digest(canonical(data))
        self._held[hash] = data
        return hash

    def read(self, hash: bytes) -> dict[str, Any]:
        return self._held[hash]

    def change(self, old: bytes, new: bytes) -> dict[str, Any]:
        """The patch that leads from one to the other."""
        return difference(self._held[old], self._held[new])

    def merged(self, head: bytes, patch: dict[str, Any]) -> bytes:
        """The head with a patch laid over it; without one, the head itself."""
        return self.keep(dict(merge(self._held[head], patch))) if patch else head

    def merged_since(self, base: bytes, head: bytes, verb: str, patch: dict[str, Any]) -> bytes:
        """As `merged`, unless others changed the same paths since `base`: MergeConflictError."""
        if not patch or base == head:
            return self.merged(head, patch)
        others = self.change(base, head)
        return self.keep(dict(merge_concurrent(self._held[base], [("another branch", others), (verb, patch)], {})))
