"""The task queue of a store: workers of one store serve it, and never instances of another store."""

from __future__ import annotations

from perdure.engines.embedded.ports import EngineStore
from perdure.engines.instance_carrier import MARK, PLATFORM
from perdure.kernel.ports import APPLIED, Attachments, InboxRow, Unit
from perdure.sources import Sources, id_text


async def own_queue(store: EngineStore, sources: Sources) -> str:
    """The name of the queue, made when a store is first opened with this engine."""
    for _ in range(2):
        known = await store.message(PLATFORM, MARK)
        if known is not None:
            return f"perdure-{known.key}"
        now = sources.now()
        row = InboxRow(PLATFORM, MARK, "carrier", id_text(sources.new_id()), now, APPLIED, "temporal", None, None)
        await store.commit(Unit(PLATFORM, None, attachments=[Attachments(inbox=row)], at=now))
    raise AssertionError("the queue of the store was written and is not there")
