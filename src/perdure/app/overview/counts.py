"""Counts for the overview: bounded, remembered for a moment, hours that are over for as long as they are shown."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from perdure.errors import QuarantinedError, RejectedError
from perdure.journal import Machine
from perdure.runbooks.executor.call_executor import KIND as RUNBOOK
from perdure.sources import SECOND, Micros, Sources
from perdure.store.lists import NEWEST
from perdure.store.store import Store

HOUR: Micros = 3600 * SECOND
HOURS = 24
MOST_PER_HOUR = 10_000
KEPT_SECONDS = 1
KEPT_ANSWERS = 512
KEPT_HOURS = 4096
FAILED = "failed"

T = TypeVar("T")


class HourCount(msgspec.Struct, frozen=True):
    """What began and ended within an hour that begins `at`."""

    at: Micros
    started: int
    ended: int
    failed: int


class Counts:
    """Of one process, for all tenants."""

    def __init__(self, store: Store, machine: Machine[Any, Any, Any], sources: Sources) -> None:
        self._store = store
        self._lists = store.lists
        self._machine = machine
        self._sources = sources
        self._answers: OrderedDict[tuple[Any, ...], tuple[Micros, Any]] = OrderedDict()
        self._hours: OrderedDict[tuple[str, Micros], HourCount] = OrderedDict()
        self._edges: OrderedDict[tuple[str, bool, Micros], int] = OrderedDict()

    async def remembered(self, key: tuple[Any, ...], make: Callable[[], Awaitable[T]]) -> T:
        """What was made for a key within the last second, or is made now."""
        now = self._sources.monotonic()
        known = self._answers.get(key)
        if known is not None and now - known[0] < KEPT_SECONDS * SECOND:
            found: T = known[1]
            return found
        made = await make()
        _keep(self._answers, key, (now, made), KEPT_ANSWERS)
        return made

    async def hours(self, tenant: str) -> list[HourCount]:
        """The last day, hour by hour; the last one is not over."""
        now = self._sources.now()
        first = now - now % HOUR - (HOURS - 1) * HOUR
        return [await self._hour(tenant, first + number * HOUR, now) for number in range(HOURS)]

    async def _hour(self, tenant: str, at: Micros, now: Micros) -> HourCount:
        known = self._hours.get((tenant, at))
        if known is not None:
            return known
        ended = await self._lists.count_ended(tenant, RUNBOOK, at, at + HOUR, MOST_PER_HOUR)
        started = sum([await self._started(tenant, is_plan, at, now) for is_plan in (False, True)])
        made = HourCount(at, min(started, MOST_PER_HOUR), sum(ended.values()), ended.get(FAILED, 0))
        if at + HOUR + SECOND < now:  # a little later, for those whose clock is behind
            _keep(self._hours, (tenant, at), made, KEPT_HOURS)
        return made

    async def _started(self, tenant: str, is_plan: bool, at: Micros, now: Micros) -> int:
        first = await self._edge(tenant, is_plan, at, now)
        before = await self._edge(tenant, is_plan, at + HOUR, now)
        return await self._lists.count_started(tenant, is_plan, first, before, MOST_PER_HOUR)

    async def _edge(self, tenant: str, is_plan: bool, at: Micros, now: Micros) -> int:
        """The place of the first that began at a time or later: places grow with time, so it is found by halving."""
        if at > now:
            return NEWEST
        known = self._edges.get((tenant, is_plan, at))
        if known is not None:
            return known
        newest = await self._lists.runbooks(tenant, is_plan, "", NEWEST, 1)
        low, high = 0, newest[0].number + 1 if newest else 0
        while low < high:
            middle = (low + high) // 2
            place, began = await self._began(tenant, is_plan, middle, high)
            if began is None or began >= at:
                high = middle
            else:
                low = place + 1
        _keep(self._edges, (tenant, is_plan, at), low, KEPT_HOURS)
        return low

    async def _began(self, tenant: str, is_plan: bool, number: int, before: int) -> tuple[int, Micros | None]:
        """The first from a place on that can be read, and when it began; None when there is none before another."""
        while (found := await self._lists.from_number(tenant, is_plan, number)) is not None and found.number < before:
            try:
                loaded = await self._store.load(found.id)
                if loaded is not None:
                    return found.number, int(self._machine.decode(loaded.state).started_at)
            except (QuarantinedError, RejectedError):
                pass  # those beside it began at about the same time
            number = found.number + 1
        return before, None


def _keep(kept: OrderedDict[Any, Any], key: Any, value: Any, most: int) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > most:
        kept.popitem(last=False)
