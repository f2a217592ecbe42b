"""What the embedded engine needs of a store besides what runbooks need."""

from __future__ import annotations

from typing import Protocol

from perdure.kernel.ports import RecordRow
from perdure.runbooks.ports import RunbookStore
from perdure.sources import Id


class EngineStore(RunbookStore, Protocol):
    """Everything the engine reads."""

    async def history(self, aggregate: Id, after: int, previous: bytes) -> list[RecordRow]: ...
