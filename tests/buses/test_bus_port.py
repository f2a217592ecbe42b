"""The port of a bus behaves the same on Redis, NATS and Kafka, and each broker's own trap is met."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from perdure.buses.bus import Bus, Consumer, Delivery
from perdure.buses.bus_selection import Buses, open_bus
from perdure.buses.bus_settings import Broker, BusSettings
from perdure.errors import BusUnavailableError, StoreSettingError
from tests.buses.brokers import fresh_source

SOON = 0.2
CLAIM_SECONDS = 1.0


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Bus]:
    bus = await open_bus(Broker("office", url))
    try:
        yield bus
    finally:
        await bus.close()


async def joined(bus: Bus, source: str, member: str = "one") -> Consumer:
    return await bus.consume(source, "perdure", member, CLAIM_SECONDS)


async def received(consumer: Consumer, wanted: int) -> list[Delivery]:
    """So many deliveries, however the broker cuts them into batches."""
    found: list[Delivery] = []
    while len(found) < wanted:
        found += await consumer.receive(wanted - len(found), 1.0)
    return found


def bodies(found: list[Delivery]) -> list[str]:
    return sorted(each.body.decode() for each in found)


@pytest.mark.req("T4")
async def test_what_was_published_is_delivered_until_it_is_acknowledged(broker_url: str) -> None:
    source = fresh_source()
    async with opened(broker_url) as bus:
        first = await joined(bus, source)
        for number in range(3):
            await bus.publish(source, f"m{number}".encode(), message_id=f"id{number}", headers={"kind": "test"})
        found = await received(first, 3)
        assert bodies(found) == ["m0", "m1", "m2"]
        assert {each.headers["kind"] for each in found if each.headers} <= {"test"}
        await first.acknowledge([each for each in found if each.body == b"m0"])
        await first.close()
        second = await joined(bus, source, "two")
        left = await received(second, 2)
        assert bodies(left) == ["m1", "m2"]
        await second.acknowledge(left)
        assert await bus.lag(source, "perdure") == 0
        assert await second.receive(10, SOON) == []
        await second.close()


@pytest.mark.req("T4")
@pytest.mark.deep
async def test_a_commit_of_kafka_never_passes_a_message_that_is_open(kafka_url: str) -> None:
    source = fresh_source()
    async with opened(kafka_url) as bus:
        for number in range(8):
            await bus.publish(source, f"m{number}".encode(), message_id=f"id{number}")
        first = await joined(bus, source)
        found = await received(first, 8)
        failed = found[0]
        await first.acknowledge(found[1:])
        await first.close()
        second = await joined(bus, source, "two")
        again = await received(second, 1)
        assert failed.body in {each.body for each in again}
        await second.close()


@pytest.mark.req("T4")
async def test_a_consumer_of_redis_that_leaves_with_something_open_loses_nothing(redis_url: str) -> None:
    source = fresh_source()
    async with opened(redis_url) as bus:
        first, second = await joined(bus, source), await joined(bus, source, "two")
        await bus.publish(source, b"m", message_id="id")
        (held,) = await received(first, 1)
        await first.close()
        (claimed,) = await received(second, 1)
        assert (claimed.place, claimed.tries) == (held.place, 2)
        await second.acknowledge([claimed])
        await second.close()


async def test_what_is_held_is_not_claimed_by_another(redis_url: str) -> None:
    source = fresh_source()
    async with opened(redis_url) as bus:
        first, second = await joined(bus, source), await joined(bus, source, "two")
        await bus.publish(source, b"m", message_id="id")
        open = await received(first, 1)
        for _ in range(4):
            assert await second.receive(1, CLAIM_SECONDS / 2) == []
            await first.hold(open)
        await first.acknowledge(open)
        await first.close()
        await second.close()


@pytest.mark.req("T4")
async def test_nats_drops_a_repeat_under_the_same_id_and_keeps_a_new_sending(nats_url: str) -> None:
    source = fresh_source()
    async with opened(nats_url) as bus:
        consumer = await joined(bus, source)
        for id in ("a", "a", "a/2"):
            await bus.publish(source, id.encode(), message_id=id)
        found = await received(consumer, 2)
        assert bodies(found) == ["a", "a/2"]
        await consumer.acknowledge(found)
        assert await bus.lag(source, "perdure") == 0
        await consumer.close()


async def test_a_subject_that_no_stream_keeps_is_an_error_and_nothing_is_lost_in_silence(nats_url: str) -> None:
    async with opened(nats_url) as bus:
        with pytest.raises(BusUnavailableError, match="no stream keeps what is sent to 'nowhere'"):
            await bus.publish("nowhere", b"m", message_id="id")


async def test_entries_added_by_hand_are_read_by_their_fields(redis_url: str) -> None:
    from redis.asyncio import Redis  # noqa: PLC0415

    source = fresh_source()
    async with opened(redis_url) as bus, Redis.from_url(redis_url) as client:
        await client.xadd(source, {"correlation_id": "c", "status": "completed"})
        await client.xadd(source, {"body": "{}", "headers": "no json"})
        consumer = await joined(bus, source)
        found = await received(consumer, 2)
        assert [each.body for each in found] == [b'{"correlation_id": "c", "status": "completed"}', b"{}"]
        await consumer.acknowledge(found)
        await consumer.close()


async def test_a_broker_that_nobody_named_or_that_is_not_there_is_told_by_name() -> None:
    buses = Buses(BusSettings((Broker("office", "redis://127.0.0.1:1/0"),)))
    with pytest.raises(StoreSettingError, match="there is none of that name"):
        await buses.publish("elsewhere", "s", b"", message_id="m")
    with pytest.raises(BusUnavailableError, match="'office'"):
        await buses.publish("office", "s", b"", message_id="m")
    await buses.close()
