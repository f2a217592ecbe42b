"""Kafka as a bus: offsets are committed up to the first message that is not settled, and never past it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar
from urllib.parse import urlsplit

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from perdure.buses.bus import Delivery
from perdure.errors import BusUnavailableError

TIMEOUT_SECONDS = 10.0
LINGER_MILLIS = "5"
MESSAGE_ID = "message_id"
T = TypeVar("T")
Place = tuple[str, int]


class KafkaBus:
    """A cluster. The client blocks, so every call of it runs in a thread."""

    def __init__(self, name: str, settings: Mapping[str, str]) -> None:
        self._name = name
        self._settings = dict(settings)
        self._producer: Any = None
        self._probes: dict[str, Any] = {}
        """Clients that only look at the offsets of a group, and never join it."""

    @classmethod
    async def open(cls, name: str, url: str, options: Mapping[str, str]) -> KafkaBus:
        return cls(name, {"bootstrap.servers": urlsplit(url).netloc, "log_level": "2", **options})

    @asynccontextmanager
    async def reached(self) -> AsyncIterator[None]:
        """Tell errors of the client as ours."""
        try:
            yield
        except (KafkaException, BufferError, OSError) as error:
            raise BusUnavailableError("reach", "broker", self._name, f"{type(error).__name__}: {error}") from error

    async def publish(
        self, destination: str, body: bytes, *, message_id: str, headers: Mapping[str, str] | None = None
    ) -> None:
        if self._producer is None:
            own = {"enable.idempotence": "true", "acks": "all", "linger.ms": LINGER_MILLIS}
            self._producer = Producer({**self._settings, **own})
        told: list[Any] = []
        sent = [(name, value.encode()) for name, value in {**(headers or {}), MESSAGE_ID: message_id}.items()]
        async with self.reached():
            self._producer.produce(
                destination, body, key=message_id, headers=sent, on_delivery=lambda error, _: told.append(error)
            )
            await asyncio.to_thread(self._flush, told)
        if not told or told[0] is not None:
            fact = str(told[0]) if told else f"nothing was answered within {TIMEOUT_SECONDS:.0f} s"
            raise BusUnavailableError("publish to", "broker", self._name, fact)

    def _flush(self, told: list[Any]) -> None:
        self._producer.flush(TIMEOUT_SECONDS)

    async def consume(self, source: str, group: str, member: str, claim_seconds: float) -> KafkaConsumer:
        session = {"session.timeout.ms": str(max(int(claim_seconds * 1000), 6000))}
        own = {
            "group.id": group, "client.id": member, "enable.auto.commit": "false", "auto.offset.reset": "earliest",
            "enable.auto.offset.store": "false",
        }  # fmt: skip
        async with self.reached():
            client = Consumer({**session, **self._settings, **own})
            consumer = KafkaConsumer(self, client, source)
            client.subscribe([source], on_revoke=consumer.lost, on_lost=consumer.lost)
        return consumer

    async def lag(self, source: str, group: str) -> int | None:
        async with self.reached():
            return await asyncio.to_thread(self._count, source, group)

    def _count(self, topic: str, group: str) -> int | None:
        if group not in self._probes:
            self._probes[group] = Consumer({**self._settings, "group.id": group, "enable.auto.commit": "false"})
        probe = self._probes[group]
        about = probe.list_topics(topic, timeout=TIMEOUT_SECONDS).topics[topic]
        places = [TopicPartition(topic, number) for number in about.partitions]
        if about.error is not None or not places:
            return None
        total = 0
        for each in probe.committed(places, timeout=TIMEOUT_SECONDS):
            low, high = probe.get_watermark_offsets(each, timeout=TIMEOUT_SECONDS)
            total += max(high - (each.offset if each.offset >= 0 else low), 0)
        return total

    async def close(self) -> None:
        for probe in self._probes.values():
            await asyncio.to_thread(probe.close)
        self._probes.clear()
        if self._producer is not None:
            await asyncio.to_thread(self._producer.flush, TIMEOUT_SECONDS)
            self._producer = None


class KafkaConsumer:
    """One member of a group at one topic."""

    def __init__(self, bus: KafkaBus, client: Any, topic: str) -> None:
        self._bus = bus
        self._client = client
        self._topic = topic
        self._open: dict[Place, dict[int, bool]] = {}
        """By partition, offsets in their order, and whether each is settled; those before the first open one leave."""
        self._is_paused = False
        self._turn = asyncio.Lock()

    async def _called(self, function: Callable[..., T], *arguments: Any) -> T:
        """One call at a time, to its end also when whoever waits for it is cancelled."""
        async with self._turn, self._bus.reached():
            task = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
            try:
                return await asyncio.shield(task)
            except asyncio.CancelledError:
                await asyncio.wait({task})
                raise

    def lost(self, client: Any, partitions: Sequence[Any]) -> None:
        """Partitions went to another member: what is open of them is theirs now."""
        for each in partitions:
            self._open.pop((each.topic, each.partition), None)

    async def receive(self, most: int, seconds: float) -> list[Delivery]:
        messages = await self._called(self._consume, most, seconds)
        return [self._delivery(each) for each in messages if each.error() is None]

    def _consume(self, most: int, seconds: float) -> list[Any]:
        if self._is_paused:
            self._client.resume(self._client.assignment())
            self._is_paused = False
        found: list[Any] = self._client.consume(most, seconds)
        for each in found:
            if each.error() is None:
                self._open.setdefault((each.topic(), each.partition()), {})[each.offset()] = False
        return found

    def _delivery(self, message: Any) -> Delivery:
        headers = {name: (value or b"").decode("utf-8", "replace") for name, value in message.headers() or ()}
        place = (message.topic(), message.partition())
        return Delivery(
            f"{place[0]}/{place[1]}@{message.offset()}", message.value() or b"", headers, 1, (place, message.offset())
        )  # fmt: skip

    async def acknowledge(self, settled: Sequence[Delivery]) -> None:
        for each in settled:
            place, offset = each.token
            if offset in (known := self._open.get(place, {})):
                known[offset] = True
        upto = [TopicPartition(*place, after) for place in {each.token[0] for each in settled}
                if (after := self._passed(place)) is not None]  # fmt: skip
        if upto:
            await self._called(lambda: self._client.commit(offsets=upto, asynchronous=False))

    def _passed(self, place: Place) -> int | None:
        """The offset after the last settled message with none open before it; None when the first one is open."""
        known, after = self._open.get(place, {}), None
        for offset in list(known):
            if not known[offset]:
                break
            after = offset + 1
            del known[offset]
        return after

    async def hold(self, open: Sequence[Delivery]) -> None:
        """Poll without reading on: a member that does not poll is taken for dead."""
        await self._called(self._poll_paused)

    def _poll_paused(self) -> None:
        if not self._is_paused:
            self._client.pause(self._client.assignment())
            self._is_paused = True
        self._client.poll(0)

    async def close(self) -> None:
        with suppress(BusUnavailableError):
            await self._called(self._client.close)
