"""Decided elsewhere: what a decision brings is appended whole, whoever was faster meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.engines.embedded.ports import EngineStore
from perdure.kernel.ports import Attachments, Conflict, EntityWrite


async def changed_record(store: EngineStore, tenant: str, entities: Sequence[EntityWrite]) -> Conflict | None:
    """The first record that somebody changed since it was read; none when all are as they were."""
    for write in entities:
        found = await store.read_entity(tenant, write.entity, write.key)
        if (found.version if found is not None else 0) != write.expected:
            return Conflict("entity", f"{write.entity}/{write.key}")
    return None


async def rebased(store: EngineStore, tenant: str, entities: Sequence[EntityWrite]) -> list[EntityWrite]:
    """Changes of records onto the records as they are now: a decision that was taken is appended whole."""
    made = []
    for write in entities:
        found = await store.read_entity(tenant, write.entity, write.key)
        made.append(write._replace(expected=found.version if found is not None else 0))
    return made


def without_rows(brought: Attachments) -> Attachments:
    """Attachments without what met a conflict: a decision is appended whoever holds its keys."""
    return Attachments(
        payloads=brought.payloads, settles=brought.settles, dispatched=brought.dispatched, entities=brought.entities
    )  # fmt: skip
