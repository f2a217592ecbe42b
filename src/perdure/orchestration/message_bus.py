"""`MessageBus`: topics over a broker, or within this process; a workflow begins once for each message id."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from perdure.buses.bus import Bus, Consumer, Delivery
from perdure.buses.bus_selection import Buses
from perdure.buses.bus_settings import Broker, BusSettings
from perdure.buses.delivery_loop import DeliveryLoop
from perdure.buses.delivery_outcome import Taken, outcome_of
from perdure.errors import PerdureError, RejectedError, Rejection
from perdure.sources import Sources, SystemSources, fresh_secret, id_text
from perdure.typed_reading import read_json

BROKER = "bus"
DEFAULT_STREAM = "perdure.events"
CLAIM_SECONDS = 30.0
_PATTERN = re.compile(r"[A-Za-z0-9_*#-]+(\.[A-Za-z0-9_*#-]+)*")


class Message(msgspec.Struct, frozen=True):
    """What is published under a topic. `key` is the business it is about; the same `id` is the same message."""

    id: str
    topic: str
    data: dict[str, Any] = {}
    key: str = ""


Handler = Callable[[Message], Awaitable[None]]


class MessageBus:
    """`redis_url` or `url` names a broker (Redis Streams, Kafka or NATS); without one, messages stay in this process.

    A handler that fails is asked again. What cannot be read, or fails too often, goes to the stream with `.dead`
    behind its name, and can be published again from there.
    """

    def __init__(
        self, redis_url: str = "", *, url: str = "", stream: str = DEFAULT_STREAM, sources: Sources | None = None
    ) -> None:
        self._url, self.stream = url or redis_url, stream
        self._sources = sources or SystemSources()
        self._buses = Buses(BusSettings(brokers=(Broker(BROKER, self._url),))) if self._url else None
        self._handlers: list[tuple[re.Pattern[str], Handler]] = []
        self._loops: list[DeliveryLoop] = []

    async def publish(
        self, topic: str, data: Mapping[str, Any] | None = None, *, message_id: str = "", key: str = ""
    ) -> Message:
        """Tell everybody who subscribed; returns once the broker has it, or, within this process, once it counted."""
        _checked(topic, is_pattern=False)
        message = Message(message_id or id_text(self._sources.new_id()), topic, dict(data or {}), key)
        if self._buses is None:
            for pattern, handler in self._handlers:
                if pattern.fullmatch(topic):
                    await handler(message)
            return message
        body = msgspec.json.encode(message)
        await self._buses.publish(BROKER, self.stream, body, message_id=message.id)
        return message

    async def subscribe(self, topic: str, handler: Handler, consumer_group: str = "workflow-engine") -> None:
        """Be told of every message whose topic matches: `*` stands for one word, `#` for any number of them."""
        pattern = _checked(topic, is_pattern=True)
        if self._buses is None:
            self._handlers.append((pattern, handler))
            return
        loop = self._loop(pattern, handler, re.sub(r"[^A-Za-z0-9_-]", "-", consumer_group)[:64])
        self._loops.append(loop)
        loop.start()

    def _loop(self, pattern: re.Pattern[str], handler: Handler, group: str) -> DeliveryLoop:
        member = f"perdure-{fresh_secret(6).hex()}"

        async def join() -> Consumer:
            bus = await self._bus()
            letters = await bus.consume(f"{self.stream}.dead", "letters", member, CLAIM_SECONDS)
            await letters.close()  # so that there is a place for them on brokers that want one made
            return await bus.consume(self.stream, group, member, CLAIM_SECONDS)

        async def take(delivery: Delivery) -> Taken:
            try:
                message = read_json(delivery.body, Message)
            except msgspec.DecodeError as error:
                return Taken("bad", str(error))
            if not pattern.fullmatch(message.topic):
                return Taken("known")  # for somebody else: acknowledged, or it would come again for ever
            try:
                await handler(message)
            except PerdureError as error:
                return Taken(outcome_of(error), str(error))
            return Taken("counted")

        async def park(delivery: Delivery, reason: str) -> None:
            letter = f"{group}/{delivery.place}"
            headers = {"reason": reason[:500]}
            await (await self._bus()).publish(
                f"{self.stream}.dead", delivery.body, message_id=letter, headers=headers
            )  # fmt: skip

        return DeliveryLoop(f"{self.stream}/{group}", join, take, park, self._sources)

    async def _bus(self) -> Bus:
        assert self._buses is not None
        return await self._buses.get(BROKER)

    async def close(self) -> None:
        await asyncio.gather(*(loop.stop() for loop in self._loops))
        self._loops.clear()
        self._handlers.clear()
        if self._buses is not None:
            await self._buses.close()


def _checked(topic: str, *, is_pattern: bool) -> re.Pattern[str]:
    """A topic as a pattern over whole words."""
    if not _PATTERN.fullmatch(topic) or len(topic) > 200 or (not is_pattern and set("*#") & set(topic)):
        fact, hint = "it is no topic", "Write words with dots between them, such as github.pull_request.opened."
        raise RejectedError(Rejection("invalid", "use", "topic", topic[:80], fact, hint))
    words = {"*": r"[^.]+", "#": r".+"}
    return re.compile(r"\.".join(words.get(word, re.escape(word)) for word in topic.split(".")))
