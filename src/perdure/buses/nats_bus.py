"""NATS JetStream as a bus: a durable pull consumer for each group, acknowledged message by message."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import nats
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeout
from nats.js.api import AckPolicy, ConsumerConfig
from nats.js.errors import NoStreamResponseError, NotFoundError

from perdure.buses.bus import Delivery
from perdure.errors import BusUnavailableError

MESSAGE_ID = "Nats-Msg-Id"
TIMEOUT_SECONDS = 5.0
MOST_OPEN = 10_000
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")


class NatsBus:
    """A connection to one cluster."""

    def __init__(self, name: str, client: Any) -> None:
        self._name = name
        self._client = client
        self._stream = client.jetstream(timeout=TIMEOUT_SECONDS)

    @classmethod
    async def open(cls, name: str, url: str, options: Mapping[str, str]) -> NatsBus:
        async def quiet(error: Exception) -> None:
            """Errors of the connection are met by whoever uses it."""

        try:
            client = await nats.connect(
                url, connect_timeout=int(TIMEOUT_SECONDS), max_reconnect_attempts=-1, allow_reconnect=True,
                error_cb=quiet, reconnect_time_wait=0.2,
            )  # fmt: skip
        except (NatsError, OSError, TimeoutError) as error:
            raise BusUnavailableError("reach", "broker", name, f"{type(error).__name__}: {error}") from error
        return cls(name, client)

    @asynccontextmanager
    async def reached(self) -> AsyncIterator[None]:
        """Tell errors of the connection as ours."""
        try:
            yield
        except (NatsError, OSError, TimeoutError) as error:
            raise BusUnavailableError("reach", "broker", self._name, f"{type(error).__name__}: {error}") from error

    async def publish(
        self, destination: str, body: bytes, *, message_id: str, headers: Mapping[str, str] | None = None
    ) -> None:
        async with self.reached():
            try:
                await self._stream.publish(destination, body, headers={**(headers or {}), MESSAGE_ID: message_id})
            except NoStreamResponseError as error:
                fact = f"no stream keeps what is sent to '{destination}'"
                hint = f"Make one: nats stream add --subjects {destination}."
                raise BusUnavailableError("publish to", "broker", self._name, fact, hint) from error

    async def consume(self, source: str, group: str, member: str, claim_seconds: float) -> NatsConsumer:
        async with self.reached():
            try:
                stream = await self._stream.find_stream_name_by_subject(source)
            except NotFoundError:
                stream = _NO_NAME.sub("_", source)
                await self._stream.add_stream(name=stream, subjects=[source])
            await self._ensure_consumer(stream, source, group, claim_seconds)
            pulled = await self._stream.pull_subscribe_bind(consumer=group, stream=stream)
        return NatsConsumer(self, pulled)

    async def _ensure_consumer(self, stream: str, subject: str, group: str, claim_seconds: float) -> None:
        wanted = ConsumerConfig(
            durable_name=group, ack_policy=AckPolicy.EXPLICIT, ack_wait=claim_seconds, max_deliver=-1,
            filter_subject=subject, max_ack_pending=MOST_OPEN,
        )  # fmt: skip
        await self._stream.add_consumer(stream, wanted)

    async def lag(self, source: str, group: str) -> int | None:
        async with self.reached():
            try:
                stream = await self._stream.find_stream_name_by_subject(source)
                about = await self._stream.consumer_info(stream, group)
            except NotFoundError:
                return None
        return int(about.num_pending or 0) + int(about.num_ack_pending or 0)

    async def flush(self) -> None:
        await self._client.flush(int(TIMEOUT_SECONDS))

    async def close(self) -> None:
        with suppress(NatsError, OSError, TimeoutError):
            await self._client.close()


class NatsConsumer:
    """One member of a group at one subject."""

    def __init__(self, bus: NatsBus, pulled: Any) -> None:
        self._bus = bus
        self._pulled = pulled
        self._open: dict[str, Any] = {}

    async def receive(self, most: int, seconds: float) -> list[Delivery]:
        async with self._bus.reached():
            try:
                messages = await self._pulled.fetch(most, timeout=max(seconds, 0.05))
            except NatsTimeout:
                return []
        found = [self._delivery(each) for each in messages]
        self._open |= {each.place: each.token for each in found}
        return found

    def _delivery(self, message: Any) -> Delivery:
        about = message.metadata
        place = f"{about.stream}/{about.sequence.stream}"
        return Delivery(place, message.data, dict(message.headers or {}), int(about.num_delivered or 1), message)

    async def acknowledge(self, settled: Sequence[Delivery]) -> None:
        async with self._bus.reached():
            for each in settled:
                if (message := self._open.pop(each.place, None)) is not None:
                    await message.ack()
            await self._bus.flush()

    async def hold(self, open: Sequence[Delivery]) -> None:
        async with self._bus.reached():
            for each in open:
                await each.token.in_progress()

    async def close(self) -> None:
        """Give back what is open, so that others need not wait for it."""
        with suppress(NatsError, OSError, TimeoutError):
            for message in self._open.values():
                await message.nak()
            await self._bus.flush()
            await self._pulled.unsubscribe()
        self._open.clear()
