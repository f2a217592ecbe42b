"""Waits for engines: one changing row for each step whose engine was not reached. No fact: no journal tells of it."""

from __future__ import annotations

from perdure.processes.ports import EngineWait
from perdure.sources import Id, Micros
from perdure.store.ports import Driver


class EngineWaits:
    """Of one store, for all tenants."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def read(self, call: Id, step: int) -> EngineWait | None:
        rows = await self._driver.fetch("read_engine_wait", aggregate=call, step=step)
        return EngineWait(*rows[0]) if rows else None

    async def tried(
        self, tenant: str, call: Id, step: int, *, engine: str, reason: str, now: Micros, next_at: Micros
    ) -> EngineWait:
        """Count an attempt that failed."""
        rows = await self._driver.write(
            "put_engine_wait", aggregate=call, step=step, tenant=tenant, engine=engine, reason=reason, now=now,
            next_at=next_at,
        )  # fmt: skip
        return EngineWait(*rows[0])

    async def end(self, call: Id, step: int) -> None:
        await self._driver.write("end_engine_wait", aggregate=call, step=step)

    async def count(self) -> dict[str, tuple[int, Micros]]:
        """By engine: how many steps wait for it, and since when the longest."""
        rows = await self._driver.fetch("count_engine_waits")
        return {engine: (int(count), int(since)) for engine, count, since in rows}
