"""Facts are read by their kind: each kind has a source, and a key without one is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from perdure.errors import RejectedError, Rejection
from perdure.journal.facts import fact_kind, fact_parts
from perdure.payload import parse
from perdure.work.ports import Records


class FactSource(Protocol):
    """One kind of fact. What it reads is kept with decisions: ids, states, dates and codes, at most 64 KiB."""

    @property
    def kind(self) -> str:
        """The first word of the keys it reads."""
        ...

    async def read(self, tenant: str, key: str) -> Any:
        """The fact as plain JSON, as the store has it now; None when there is nothing under the key."""
        ...


class Facts:
    """All kinds of facts of one process."""

    def __init__(self) -> None:
        self._sources: dict[str, FactSource] = {}

    def add(self, source: FactSource) -> None:
        self._sources[source.kind] = source

    def kinds(self) -> list[str]:
        return sorted(self._sources)

    async def read(self, tenant: str, keys: Iterable[str]) -> dict[str, Any]:
        """The facts behind these keys, each read once."""
        return {key: await self._source(key).read(tenant, key) for key in dict.fromkeys(keys)}

    def _source(self, key: str) -> FactSource:
        source = self._sources.get(fact_kind(key))
        if source is None:
            fact = f"facts of the kind '{fact_kind(key)}' are not read here"
            raise RejectedError(Rejection("blocked", "read", "fact", key[:200], fact))
        return source


class RecordFacts:
    """`record/<entity>/<key>`: the fields of a record, and its version."""

    kind = "record"

    def __init__(self, store: Records) -> None:
        self._store = store

    async def read(self, tenant: str, key: str) -> Any:
        entity, record = fact_parts(key)
        found = await self._store.read_entity(tenant, entity, record)
        if found is None or found.is_deleted or not found.data:
            return None
        return {"version": found.version, "fields": parse(found.data)}
