"""Records of declared entities: read checked, written together with the result of the call that changes them."""

from __future__ import annotations

from typing import Any

from perdure.kernel.ports import EntityWrite
from perdure.verbs import Catalogue, Verb


class RecordDesk:
    """Opens the records of one tenant for one call."""

    def __init__(self, store: Any, catalogue: Catalogue) -> None:
        self._store = store
        self._catalogue = catalogue

    def open(self, tenant: str, principal: str) -> StagedRecords:
        return StagedRecords()


class StagedRecords:
    """Writes staged by one call, committed with its result or not at all."""

    def writes(self) -> tuple[EntityWrite, ...]:
        return ()

    async def execute(self, verb: Verb, args: dict[str, Any]) -> Any:
        raise NotImplementedError
