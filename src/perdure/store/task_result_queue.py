"""The queue of task results that others insert with SQL: leased, settled, forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from perdure.lifecycles.ports import QueuedResult
from perdure.sources import Micros
from perdure.store.ports import Driver

FIELDS = ("correlation_id", "verb", "status", "error", "cargo_type", "cargo_ref", "items", "idempotency_key")
MOST_FORGOTTEN = 1000
MOST_TEXT, MOST_ITEMS = 4_000, 1024 * 1024
"""Letters of a field: whoever may insert rows cannot make a worker hold more. The query reads one letter more."""


class TaskResultQueue:
    """Of one store, for all tenants."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def lease(self, now: Micros, until: Micros, most: int) -> list[QueuedResult]:
        """The oldest rows that nobody has leased, ours until then; an idle store writes nothing."""
        if not await self._driver.fetch("has_task_results", now=now):
            return []
        rows = await self._driver.write("lease_task_results", now=now, until=until, most=most)
        return sorted((_queued(row) for row in rows), key=lambda each: each.id)

    async def settle(self, outcomes: list[tuple[int, str]], now: Micros) -> None:
        """These rows are never looked at again."""
        if outcomes:
            await self._driver.write_all(
                [("settle_task_result", {"id": id, "outcome": outcome, "now": now}) for id, outcome in outcomes]
            )

    async def release(self, id: int, outcome: str, until: Micros) -> None:
        """A row is leased again after that time."""
        await self._driver.write("release_task_result", id=id, outcome=outcome, until=until)

    async def count(self, most: int) -> int:
        """How many rows wait; `most` when there are that many or more."""
        return int((await self._driver.fetch("count_task_results", most=most))[0][0])

    async def forget(self, before: Micros) -> int:
        """Remove some rows that were dealt with before a time; 0 when none is left."""
        return len(await self._driver.write("forget_task_results", before=before, most=MOST_FORGOTTEN))


def _queued(row: tuple[Any, ...]) -> QueuedResult:
    fields = dict(zip(FIELDS, row[3:], strict=True))
    return QueuedResult(int(row[0]), str(row[1]), int(row[2]), fields, next(_too_long(fields), ""))


def _too_long(fields: dict[str, Any]) -> Iterator[str]:
    """What is wrong with a row of which only the beginning was read. An error is cut anyway."""
    for name, value in fields.items():
        most = MOST_ITEMS if name == "items" else MOST_TEXT
        if name != "error" and value is not None and len(value) > most:
            yield f"{name} has more than {most:,} letters"
