"""Counts over all tenants for gauges: every one ends at a bound, so that looking costs the same in a full store."""

from __future__ import annotations

from typing import Literal

from perdure.engine.bridge_rows import engine_of
from perdure.sources import Id, Micros
from perdure.store.checksums import stored_id
from perdure.store.ports import Driver

Counted = Literal["jobs", "incidents", "dead", "tasks", "calls", "quarantined"]


class Gauges:
    """What a scrape asks of a store."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def count(self, what: Counted, most: int) -> int:
        """How many there are; `most` when there are that many or more."""
        return int((await self._driver.fetch(f"gauge_{what}", most=most))[0][0])

    async def dispatches(self, most: int) -> dict[str, tuple[int, Micros]]:
        """What is under way between engines outside and our journal: how much, up to a bound of all, and since when."""
        rows = await self._driver.fetch("gauge_dispatches", most=most)
        return {engine_of(str(begins)): (int(count), int(oldest)) for begins, count, oldest in rows}

    async def waits(self, most: int) -> list[tuple[str, int]]:
        """What is waited for, by kind."""
        rows = await self._driver.fetch("gauge_waits", most=most)
        return [("call", await self.count("calls", most)), *((str(kind), int(count)) for kind, count in rows)]

    async def oldest_tasks(self, most: int, looked_at: int) -> list[tuple[Id, str, int, int]]:
        """Human tasks by their opening, of so many `looked_at`: id, tenant, step or node, token."""
        rows = await self._driver.fetch("gauge_oldest_tasks", most=most, looked_at=looked_at)
        return [(stored_id(id), str(tenant), int(step), int(token)) for id, tenant, step, token in rows]
