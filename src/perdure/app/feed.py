"""What happens in a tenant, as it happens: one tail of the journal for all who follow."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from perdure.app.paging import Page
from perdure.app.runtime import Runtime
from perdure.journal import Origin


class FeedItem(msgspec.Struct, frozen=True):
    """One entry of the journal. `kind` is runbook, instance, process or access; `sequence` that of its record.

    `state` is that of what it belongs to when this was read: never older than the entry.
    """

    cursor: str
    id: str
    kind: str
    sequence: int
    at: str | None
    entry: str
    state: str


class Feed:
    """The journal of a tenant in the order of commits. Reached as `perdure.feed`."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._runtime = runtime
        self._tenant = origin.tenant

    async def end(self) -> str:
        """The cursor of now: who lists first and follows from here misses nothing."""
        raise NotImplementedError

    async def read(self, after: str | None = None, limit: int = 50) -> Page[FeedItem]:
        """Items after a cursor, from the first one on without."""
        raise NotImplementedError

    def follow(self, after: str | None = None, *, pulse_seconds: float | None = None) -> AsyncIterator[list[FeedItem]]:
        """What comes after a cursor, from now on without one, as long as it is asked for.

        With `pulse_seconds` an empty batch comes when nothing else has for so long.
        """
        raise NotImplementedError
