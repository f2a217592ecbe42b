"""The outbox of channels: a table that others read, one row per message."""

from __future__ import annotations

from typing import NamedTuple

from perdure.sources import Sources
from perdure.store.ports import Driver


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
        """Put a message, once under its effect id as long as nobody removes it."""
        await self._driver.write(
            "put_outbox_message", tenant=tenant, effect_id=effect_id, channel=channel, recipient=recipient,
            correlation_id=correlation_id, body=body, created_at=self._sources.now(),
        )  # fmt: skip

    async def read(self, tenant: str, after: int = 0, most: int = 100) -> list[OutboxMessage]:
        """Messages of a tenant, oldest first, after a number."""
        rows = await self._driver.fetch("outbox_messages", tenant=tenant, after=after, most=most)
        return [OutboxMessage(*row) for row in rows]
