"""Buses by the names that a project gives them; the client of a broker is loaded when the broker is first used."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib import import_module

from perdure.buses.bus import Bus
from perdure.buses.bus_settings import Broker, BusSettings
from perdure.errors import StoreSettingError

ADAPTERS = {
    "redis": ("perdure.buses.redis_bus", "RedisBus"),
    "kafka": ("perdure.buses.kafka_bus", "KafkaBus"),
    "nats": ("perdure.buses.nats_bus", "NatsBus"),
}


class Buses:
    """The brokers of a project, each connected once, when it is first asked for."""

    def __init__(self, settings: BusSettings | None = None) -> None:
        self.settings = settings or BusSettings()
        self._open: dict[str, Bus] = {}
        self._lock = asyncio.Lock()

    async def get(self, name: str) -> Bus:
        """The broker of that name, connected; StoreSettingError where the project names none."""
        async with self._lock:
            if name not in self._open:
                self._open[name] = await open_bus(self.settings.broker(name))
            return self._open[name]

    async def publish(
        self, broker: str, destination: str, body: bytes, *, message_id: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """Hand a message to a broker; returns once the broker has it. BusUnavailableError: it may or may not."""
        await (await self.get(broker)).publish(destination, body, message_id=message_id, headers=headers)

    async def close(self) -> None:
        for bus in self._open.values():
            await bus.close()
        self._open.clear()


async def open_bus(broker: Broker) -> Bus:
    """Connect to a broker by the kind that its url says."""
    module, name = ADAPTERS[broker.kind]
    try:
        adapter = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        fact, hint = f"the package '{error.name}' is not installed", f"Install perdure[{broker.kind}]."
        raise StoreSettingError("reach", "broker", broker.name, fact, hint) from error
    bus: Bus = await adapter.open(broker.name, broker.address(), broker.settings())
    return bus
