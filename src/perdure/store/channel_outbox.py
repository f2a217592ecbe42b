"""The outbox of channels: a table that others read, one row per message."""

from __future__ import annotations

from typing import NamedTuple

from perdure.sources import Sources
from perdure.store.ports import Driver
from perdure.store.row_journal import OUTBOX, outbox_digest, telling


class OutboxMessage(NamedTuple):
    """A message as it lies in the table."""

    number: int
    effect_id: str
    channel: str
    recipient: str
    correlation_id: str
    body: str


class ChannelOutbox:
    """Of one store."""

    def __init__(self, driver: Driver, sources: Sources) -> None:
        self._driver = driver
        self._sources = sources

    async def put(
        self, tenant: str, effect_id: str, channel: str, recipient: str, correlation_id: str, body: str
    ) -> None:
        """Put a message, once under its effect id as long as nobody removes it; the journal tells of its row."""
        now = self._sources.now()
        row = {
            "tenant": tenant, "effect_id": effect_id, "channel": channel, "recipient": recipient,
            "correlation_id": correlation_id, "body": body, "created_at": now,
        }  # fmt: skip
        place = {"tenant": tenant, "effect_id": effect_id, "written": body, "created_at": now}
        digest = outbox_digest(tenant, effect_id, channel, recipient, correlation_id, body, now)
        await self._driver.write_all([
            ("put_outbox_message", row), telling(OUTBOX, (tenant, effect_id), digest, now, "tell_outbox", **place),
        ])  # fmt: skip

    async def read(self, tenant: str, after: int = 0, most: int = 100) -> list[OutboxMessage]:
        """Messages of a tenant, oldest first, after a number."""
        rows = await self._driver.fetch("outbox_messages", tenant=tenant, after=after, most=most)
        return [OutboxMessage(*row) for row in rows]
