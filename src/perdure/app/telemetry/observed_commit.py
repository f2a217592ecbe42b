"""An observed commit: the aggregate after it, and its entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from perdure.kernel.kernel import Aggregate


class ObservedCommit(msgspec.Struct):
    """One unit that became durable; `told` holds the entries of each of its commands."""

    aggregate: Aggregate
    at: int
    told: list[tuple[Any, ...]]

    @property
    def before(self) -> int:
        """The version before this unit."""
        return self.aggregate.version - len(self.told)

    def commands(self) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """The entries of each command with the sequence of its record."""
        return enumerate(self.told, self.before + 1)
