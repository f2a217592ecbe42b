"""Fair slots: tenants have them in turn, and one tenant never has all of them."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from perdure import Perdure
from perdure.work.fair_slots import FairSlots
from perdure.work.verb_router import MAX_THREADS
from tests.runbooks.sample_verbs import catalogue

pytestmark = pytest.mark.req("V31")

DEFINITIONS = """
- name: slow.wait
  description: Wait in a thread until somebody says go
  execution: {kind: sync, effects: none}
- name: quick.note
  description: Note something at once
  execution: {kind: sync, effects: none}
"""


async def rest() -> None:
    """Let everybody who can go on do so."""
    for _ in range(5):
        await asyncio.sleep(0)


def taken(slots: FairSlots, tenant: str) -> int:
    count = 0
    while slots.take_at_once(tenant):
        count += 1
    return count


def test_a_tenant_alone_has_half_and_each_of_several_the_same_share() -> None:
    slots = FairSlots(64)
    assert [taken(slots, tenant) for tenant in ("north", "south", "east", "west")] == [32, 16, 8, 4]
    for tenant in ("north", "north", "north", "north"):
        slots.give_back(tenant)
    assert not slots.take_at_once("north")
    assert slots.take_at_once("west")


async def test_tenants_that_wait_are_served_in_turn() -> None:
    slots, served = FairSlots(2), []

    async def work(tenant: str) -> None:
        await slots.take(tenant)
        served.append(tenant)

    assert slots.take_at_once("north")
    assert slots.take_at_once("south")
    tasks = [asyncio.create_task(work(tenant)) for tenant in ("north", "north", "north", "south", "east")]
    await rest()
    assert served == []
    for tenant in ("north", "south", "north", "south", "north"):
        slots.give_back(tenant)
        await rest()
    assert served == ["north", "south", "east", "north", "north"]
    await asyncio.gather(*tasks)


async def test_a_taker_that_leaves_costs_nobody_a_slot() -> None:
    slots = FairSlots(2)
    assert taken(slots, "north") == 1
    gone = asyncio.create_task(slots.take("north"))
    late = asyncio.create_task(slots.take("north"))
    await rest()
    gone.cancel()
    slots.give_back("north")
    await rest()
    assert gone.cancelled()
    assert late.done()
    assert (slots.held_by("north"), slots.free, slots.waiting_of("north")) == (1, 1, 0)


async def test_a_turn_that_came_to_somebody_cancelled_goes_to_the_next() -> None:
    slots = FairSlots(2)
    assert taken(slots, "north") == 1
    gone, late = (asyncio.create_task(slots.take("north")) for _ in range(2))
    await rest()
    slots.give_back("north")
    gone.cancel()
    await rest()
    assert gone.cancelled()
    assert late.done()


class Blocking:
    """A handler that stays in its thread until it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.running = 0
        self._lock = threading.Lock()

    def __call__(self, call: Any) -> dict[str, Any]:
        with self._lock:
            self.running += 1
        self.go.wait(60)
        return {}


async def test_slow_handlers_of_one_tenant_leave_threads_to_another(sqlite_url: str) -> None:
    slow = Blocking()
    handlers = {"slow.wait": slow, "quick.note": lambda call: {"noted": True}}
    async with Perdure.open(sqlite_url, definitions=catalogue(DEFINITIONS), handlers=handlers) as perdure:
        north, south = perdure.acting(tenant="north"), perdure.acting(tenant="south")
        asked = [asyncio.create_task(north.call("slow.wait", {})) for _ in range(MAX_THREADS + 8)]
        try:
            async with asyncio.timeout(60):
                while slow.running < MAX_THREADS // 2:
                    await asyncio.sleep(0)
                assert (await south.call("quick.note", {})).result == {"noted": True}
            assert slow.running == MAX_THREADS // 2
            assert not any(each.done() for each in asked)
        finally:
            slow.go.set()
        assert {(await each).state for each in asked} == {"completed"}


async def test_a_cancelled_attempt_keeps_its_slot_until_its_function_has_ended(sqlite_url: str) -> None:
    slow = Blocking()
    async with Perdure.open(
        sqlite_url, definitions=catalogue(DEFINITIONS), handlers={"slow.wait": slow, "quick.note": slow}
    ) as perdure:
        router = perdure.runtime.router
        verb = perdure.catalogue.get("slow.wait")
        assert verb is not None

        class Asked:
            tenant = "north"

        attempt = asyncio.create_task(router._in_pool(slow, Asked()))  # type: ignore[arg-type]
        while not slow.running:
            await asyncio.sleep(0)
        attempt.cancel()
        await rest()
        assert router._slots.held_by("north") == 1
        slow.go.set()
        async with asyncio.timeout(60):
            while router._slots.held_by("north"):
                await asyncio.sleep(0)
