"""Payloads this process has just committed: not read back while they are still at hand."""

from __future__ import annotations

from collections import OrderedDict

MAX_BYTES = 8 * 1024 * 1024
MAX_ENTRIES = 4096
MAX_EACH = 64
"""Of one aggregate: one that goes on for long needs what it wrote last, not all it ever wrote."""


class RecentPayloads:
    """Bounded in number and bytes; the oldest leave first. Content under a hash never changes."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, dict[bytes, bytes]] = OrderedDict()
        self._size = 0

    def keep(self, aggregate: bytes, hash: bytes, data: bytes) -> None:
        held = self._kept.get(aggregate)
        if held is None:
            self._kept[aggregate] = {hash: data}
        elif hash in held:
            return
        else:
            held[hash] = data
            if len(held) > MAX_EACH:
                self._size -= len(held.pop(next(iter(held))))
        self._size += len(data)
        while self._size > MAX_BYTES or len(self._kept) > MAX_ENTRIES:
            self._drop(self._kept.popitem(last=False)[1])

    def find(self, aggregate: bytes, hash: bytes) -> bytes | None:
        held = self._kept.get(aggregate)
        return held.get(hash) if held is not None else None

    def forget(self, aggregate: bytes) -> None:
        self._drop(self._kept.pop(aggregate, {}))

    def _drop(self, held: dict[bytes, bytes]) -> None:
        self._size -= sum(map(len, held.values()))
