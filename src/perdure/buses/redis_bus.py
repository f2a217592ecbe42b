"""Redis Streams as a bus: consumer groups, with entries of dead consumers claimed after a while."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from perdure.buses.bus import Delivery
from perdure.errors import BusUnavailableError

BODY, HEADERS, MESSAGE_ID = b"body", b"headers", b"message_id"
BEGINNING = "0"
TIMEOUT_SECONDS = 10.0


class RedisBus:
    """A connection to one server."""

    def __init__(self, name: str, client: Any) -> None:
        self._name = name
        self._client = client

    @classmethod
    async def open(cls, name: str, url: str, options: Mapping[str, str]) -> RedisBus:
        # A read may block for as long as a consumer waits, so only connecting has a limit of its own.
        client = Redis.from_url(url, socket_connect_timeout=TIMEOUT_SECONDS)
        bus = cls(name, client)
        try:
            async with bus.reached():
                await client.ping()
        except BaseException:
            await client.aclose()
            raise
        return bus

    @asynccontextmanager
    async def reached(self) -> AsyncIterator[None]:
        """Tell errors of the connection as ours."""
        try:
            yield
        except (RedisError, OSError) as error:
            raise BusUnavailableError("reach", "broker", self._name, f"{type(error).__name__}: {error}") from error

    async def publish(
        self, destination: str, body: bytes, *, message_id: str, headers: Mapping[str, str] | None = None
    ) -> None:
        fields: dict[Any, Any] = {MESSAGE_ID: message_id, BODY: body}
        if headers:
            fields[HEADERS] = json.dumps(dict(headers))
        async with self.reached():
            await self._client.xadd(destination, fields)

    async def consume(self, source: str, group: str, member: str, claim_seconds: float) -> RedisConsumer:
        async with self.reached():
            try:
                await self._client.xgroup_create(source, group, id=BEGINNING, mkstream=True)
            except ResponseError as error:
                if "BUSYGROUP" not in str(error):
                    raise
        return RedisConsumer(self, self._client, source, group, member, claim_seconds)

    async def lag(self, source: str, group: str) -> int | None:
        async with self.reached():
            try:
                groups = await self._client.xinfo_groups(source)
            except ResponseError:
                return None
        own = next((each for each in groups if each["name"] == group.encode()), None)
        if own is None or own.get("lag") is None:
            return None
        return int(own["lag"]) + int(own["pending"])

    async def close(self) -> None:
        await self._client.aclose()


class RedisConsumer:
    """One consumer of a group at one stream."""

    def __init__(self, bus: RedisBus, client: Any, stream: str, group: str, member: str, claim_seconds: float) -> None:
        self._bus = bus
        self._client = client
        self._stream, self._group, self._member = stream, group, member
        self._claim_millis = max(int(claim_seconds * 1000), 1)

    async def receive(self, most: int, seconds: float) -> list[Delivery]:
        async with self._bus.reached():
            left = await self._client.xautoclaim(
                self._stream, self._group, self._member, self._claim_millis, start_id="0-0", count=most
            )
            if claimed := await self._claimed(left[1]):
                return claimed
            found = await self._client.xreadgroup(
                self._group, self._member, {self._stream: ">"}, count=most, block=max(int(seconds * 1000), 1)
            )
        entries = found[0][1] if isinstance(found, list) and found else []
        return [self._delivery(id, fields, 1) for id, fields in entries]

    async def _claimed(self, entries: Sequence[Any]) -> list[Delivery]:
        """What another consumer left; entries that were trimmed away meanwhile are acknowledged: nothing is in them."""
        gone = [entry[0] for entry in entries if entry[0] is not None and entry[1] is None]
        if gone:
            await self._client.xack(self._stream, self._group, *gone)
        kept = [entry for entry in entries if entry[1] is not None]
        if not kept:
            return []
        pending = await self._client.xpending_range(
            self._stream, self._group, kept[0][0], kept[-1][0], len(kept), consumername=self._member
        )
        tries = {each["message_id"]: int(each["times_delivered"]) for each in pending}
        return [self._delivery(id, fields, tries.get(id, 1)) for id, fields in kept]

    def _delivery(self, id: bytes, fields: Mapping[bytes, bytes], tries: int) -> Delivery:
        if (body := fields.get(BODY)) is None:
            # An entry that was added by hand has the fields of a result as its own.
            body = json.dumps({_text(name): _text(value) for name, value in fields.items()}).encode()
        return Delivery(f"{self._stream}/{id.decode()}", body, _headers(fields.get(HEADERS, b"")), tries, id)

    async def acknowledge(self, settled: Sequence[Delivery]) -> None:
        if settled:
            async with self._bus.reached():
                await self._client.xack(self._stream, self._group, *(each.token for each in settled))

    async def hold(self, open: Sequence[Delivery]) -> None:
        if open:
            async with self._bus.reached():
                ids = [each.token for each in open]
                await self._client.xclaim(self._stream, self._group, self._member, 0, ids, justid=True)

    async def close(self) -> None:
        """Leave the group, unless something is pending: Redis would forget that it was ever delivered."""
        async with self._bus.reached():
            if not await self._client.xpending_range(self._stream, self._group, "-", "+", 1, self._member):
                await self._client.xgroup_delconsumer(self._stream, self._group, self._member)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _headers(raw: bytes) -> dict[str, str]:
    try:
        found = json.loads(raw) if raw else {}
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}
