"""Lists of a store: places and ids by keys alone, a page at a time, and counts up to a bound."""

from __future__ import annotations

from typing import NamedTuple

from perdure.runbooks.ports import DeadLetter
from perdure.sources import Id, Micros
from perdure.store.checksums import stored_id
from perdure.store.ports import Driver

NEWEST = 2**62
"""Before every number."""
LAST = chr(0x10FFFF)
"""After every text."""
AFTER_IDS = b"\xff" * 17


class Listed(NamedTuple):
    """An aggregate in a list, by its place in it."""

    number: int
    id: Id
    status: str
    version: int


class Indexed(NamedTuple):
    """An aggregate found by a value of an index."""

    value: str
    id: Id


class IncidentFound(NamedTuple):
    """An open incident; opened_at, aggregate and step are its place."""

    opened_at: Micros
    aggregate: Id
    step: int
    code: str


class Lists:
    """Of one store. Every look-up names its tenant and goes by an index."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def runbooks(
        self, tenant: str, is_plan: bool, status: str = "", before: int = NEWEST, most: int = 100
    ) -> list[Listed]:
        """Plans, or calls, newest first. Completed calls are those among all calls: the others are left out."""
        by_state = status if is_plan or status != "completed" else ""
        query, more = ("list_runbooks_in", {"status": by_state}) if by_state else ("list_runbooks", {})
        rows = await self._driver.fetch(query, tenant=tenant, is_plan=int(is_plan), before=before, most=most, **more)
        return [Listed(number, stored_id(id), state, version) for number, id, state, version in rows]

    async def number_of(self, id: Id) -> int:
        """The place of an aggregate among all; 0 when there is none."""
        rows = await self._driver.fetch("number_of", id=id)
        return int(rows[0][0]) if rows else 0

    async def from_number(self, tenant: str, is_plan: bool, number: int) -> Listed | None:
        """The oldest plan, or call, that is not older than a place."""
        rows = await self._driver.fetch("runbook_from", tenant=tenant, is_plan=int(is_plan), number=number)
        return Listed(rows[0][0], stored_id(rows[0][1]), rows[0][2], rows[0][3]) if rows else None

    async def ids_between(self, tenant: str, low: bytes, high: bytes, most: int) -> list[Id]:
        """Calls and plans whose ids are in a narrow range, the last first."""
        rows = await self._driver.fetch("ids_between", tenant=tenant, low=low, high=high, most=most)
        return [stored_id(row[0]) for row in rows]

    async def indexed_field(self, tenant: str, verb: str, field: str) -> tuple[str, str] | None:
        """The first verb and field that have an index after these."""
        rows = await self._driver.fetch("indexed_field", tenant=tenant, verb=verb, field=field)
        return (rows[0][0], rows[0][1]) if rows else None

    async def indexed(
        self, tenant: str, verb: str, field: str, low: str, before: tuple[str, bytes], most: int
    ) -> list[Indexed]:
        """By values from `low` on that come before a place, the last value and the newest id first."""
        rows = await self._driver.fetch(
            "indexed_before", tenant=tenant, verb=verb, field=field, low=low, value=before[0], aggregate=before[1],
            most=most,
        )  # fmt: skip
        return [Indexed(value, stored_id(id)) for value, id in rows]

    async def index_of(self, id: Id) -> list[tuple[str, str, str]]:
        """What an aggregate is found by: verb, field and value."""
        return [(verb, field, value) for verb, field, value in await self._driver.fetch("index_of", aggregate=id)]

    async def instances(
        self, tenant: str, kind: str, status: str = "", before: bytes = AFTER_IDS, most: int = 100
    ) -> list[Listed]:
        """Instances, newest first."""
        query, more = ("list_ids_in", {"status": status}) if status else ("list_ids", {})
        rows = await self._driver.fetch(query, tenant=tenant, kind=kind, before=before, most=most, **more)
        return [Listed(0, stored_id(id), state, version) for id, state, version in rows]

    async def with_value(
        self, tenant: str, verb: str, field: str, value: str, before: bytes, most: int
    ) -> list[Listed]:
        """Aggregates by one value of an index, newest first."""
        rows = await self._driver.fetch(
            "list_indexed_ids", tenant=tenant, verb=verb, field=field, value=value, before=before, most=most
        )
        return [Listed(0, stored_id(id), state, version) for id, state, version in rows]

    async def incidents(self, tenant: str, after: tuple[int, bytes, int], most: int) -> list[IncidentFound]:
        """Open incidents, oldest first."""
        rows = await self._driver.fetch(
            "incidents_after", tenant=tenant, opened_at=after[0], aggregate=after[1], step=after[2], most=most
        )
        return [IncidentFound(opened_at, stored_id(id), step, code) for opened_at, id, step, code in rows]

    async def dead_letters(self, tenant: str, after: tuple[int, int], most: int) -> list[tuple[int, DeadLetter]]:
        """Dead letters with their numbers, oldest first."""
        rows = await self._driver.fetch("dead_after", tenant=tenant, received_at=after[0], number=after[1], most=most)
        return [(row[0], DeadLetter(*row[1:])) for row in rows]

    async def count_runbooks(self, tenant: str, is_plan: bool, status: str, most: int) -> int:
        """How many plans or calls are in a state that is not `completed`, up to a bound."""
        rows = await self._driver.fetch(
            "count_runbooks", tenant=tenant, is_plan=int(is_plan), status=status, most=most
        )  # fmt: skip
        return int(rows[0][0])

    async def count_aggregates(self, tenant: str, kind: str, status: str, most: int) -> int:
        """How many instances are in a state, up to a bound."""
        rows = await self._driver.fetch("count_aggregates_in", tenant=tenant, kind=kind, status=status, most=most)
        return int(rows[0][0])

    async def count_started(self, tenant: str, is_plan: bool, first: int, before: int, most: int) -> int:
        """How many plans or calls have a place from `first` on and before another, up to a bound."""
        rows = await self._driver.fetch(
            "count_started", tenant=tenant, is_plan=int(is_plan), first=first, before=before, most=most
        )
        return int(rows[0][0])

    async def count_ended(self, tenant: str, kind: str, since: Micros, until: Micros, most: int) -> dict[str, int]:
        """How many ended in a stretch of time, by state, up to a bound."""
        rows = await self._driver.fetch("count_ended", tenant=tenant, kind=kind, since=since, until=until, most=most)
        return dict(rows)

    async def count_waits(self, tenant: str, kind: str, most: int) -> int:
        """How many waits of a kind there are, up to a bound."""
        query = "count_calls_waiting" if kind == "call" else "count_waits_of"
        rows = await self._driver.fetch(query, tenant=tenant, most=most, **({} if kind == "call" else {"kind": kind}))
        return int(rows[0][0])

    async def oldest_wait(self, tenant: str, kind: str) -> tuple[Id, int, int] | None:
        """Aggregate, step and token of what waits longest, of a kind."""
        query = "oldest_call_waiting" if kind == "call" else "oldest_wait"
        rows = await self._driver.fetch(query, tenant=tenant, **({} if kind == "call" else {"kind": kind}))
        return (stored_id(rows[0][0]), rows[0][1], rows[0][2]) if rows else None

    async def count_incidents(self, tenant: str, most: int) -> int:
        return int((await self._driver.fetch("count_incidents_of", tenant=tenant, most=most))[0][0])

    async def count_dead(self, tenant: str, most: int) -> int:
        return int((await self._driver.fetch("count_dead_of", tenant=tenant, most=most))[0][0])
