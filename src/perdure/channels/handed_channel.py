"""A channel that hands messages to something the application has: a broker, or a table that others read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from perdure.channels.channel import RequestMessage, masked_text

Hand = Callable[[RequestMessage], Awaitable[None]]


class HandedChannel:
    """Sends by a function; under the same effect id it is the same message or row."""

    def __init__(self, hand: Hand) -> None:
        self._hand = hand

    def fault(self, to: str) -> str:
        return ""

    def masked(self, to: str) -> str:
        return masked_text(to)

    async def send(self, message: RequestMessage) -> None:
        await self._hand(message)

    async def close(self) -> None:
        return None
