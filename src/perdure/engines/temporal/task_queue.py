"""The task queue of a store: workers of one store serve it, and never instances of another store."""

from __future__ import annotations

from perdure.engines.embedded.ports import EngineStore
from perdure.engines.instance_carrier import MARK, mark_store
from perdure.sources import Sources


async def own_queue(store: EngineStore, sources: Sources) -> str:
    """The name of the queue, made when a store is first opened with this engine."""
    return f"perdure-{await mark_store(store, MARK, sources)}"
