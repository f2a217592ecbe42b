"""Workflows begin by messages of real brokers: one instance for each message id, whatever else arrives."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from perdure.buses.bus import Delivery
from perdure.buses.bus_selection import Buses
from perdure.buses.bus_settings import Broker, BusSettings
from perdure.errors import BusUnavailableError
from perdure.orchestration import MessageBus, ScriptTask, Workflow, WorkflowEngine
from tests.buses.brokers import fresh_source

PATIENCE_SECONDS = 30


def counting() -> Workflow:
    workflow = Workflow("counting")
    workflow.start().then(ScriptTask("add", lambda context: context["number"] + 1, "sum")).end()
    return workflow


async def accepted(raw: Buses, stream: str, body: bytes) -> bool:
    try:
        await raw.publish("raw", stream, body, message_id="poison")
    except BusUnavailableError:
        return False
    return True


@pytest.mark.req("O11")
async def test_each_message_id_begins_one_instance_and_poison_is_set_aside(broker_url: str, tmp_path: Path) -> None:
    stream = fresh_source()
    bus = MessageBus(url=broker_url, stream=stream)
    engine = WorkflowEngine(bus, f"sqlite:///{tmp_path / 'a.db'}")
    engine.register(counting())
    await engine.start_workflow_on_event("orders.*.placed", "counting")
    raw = Buses(BusSettings(brokers=(Broker("raw", broker_url),)))
    try:
        perdure = await engine.open()
        if not broker_url.startswith("kafka"):  # there a topic begins with its first message, and a group reads from it
            async with asyncio.timeout(PATIENCE_SECONDS):
                while await (await raw.get("raw")).lag(stream, "start-counting") is None:
                    await perdure.runtime.driver.changed(0.05)
        await raw.publish("raw", stream, b"no message", message_id="poison")
        for topic, id, number in (
            ("orders.eu.placed", "m1", 1), ("orders.eu.placed", "m1", 1), ("orders.eu.cancelled", "m2", 2),
            ("orders.us.placed", "m3", 3), ("orders.us.placed", "m1", 1),
        ):  # fmt: skip
            await bus.publish(topic, {"number": number}, message_id=id, key=f"order-{id}")
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await (await raw.get("raw")).lag(stream, "start-counting") != 0:
                await perdure.runtime.driver.changed(0.05)
        found = await perdure.instances.list(process="counting")
        assert sorted(each.business_key for each in found) == ["order-m1", "order-m3"]
        ended = [await perdure.instances.wait(each.id, "end", PATIENCE_SECONDS) for each in found]
        assert sorted(each.data["sum"] for each in ended) == [2, 4]
        dead = await (await raw.get("raw")).consume(f"{stream}.dead", "look", "me", 30)
        letters: list[Delivery] = []
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not letters:
                letters = await dead.receive(10, 5)
        assert [each.body for each in letters] == [b"no message"]
        await dead.close()
    finally:
        await raw.close()
        await engine.close()
