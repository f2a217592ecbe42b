"""Computations: beside the event loop, within bounds, abandoned with whoever waits for them."""

from __future__ import annotations

import asyncio
import threading

import pytest

from perdure.errors import EffortError, TenantBusyError
from perdure.work.computations import (
    AT_ONCE,
    EFFORT_SECONDS,
    MOST_WAITING,
    Computations,
    Effort,
    check_effort,
    effort_of_computation,
)

pytestmark = pytest.mark.req("V31")


class Gate:
    """Work that goes on only when it is let."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.begun = 0
        self._lock = threading.Lock()

    def __call__(self) -> str:
        with self._lock:
            self.begun += 1
        assert self.go.wait(60)
        return threading.current_thread().name


async def until(condition: object) -> None:
    async with asyncio.timeout(60):
        while not condition():  # type: ignore[operator]
            await asyncio.sleep(0)


async def test_a_computation_is_done_beside_the_loop_and_a_small_one_in_it() -> None:
    computations = Computations()
    here = threading.current_thread().name
    assert await computations.run("north", lambda: threading.current_thread().name, is_small=True) == here
    assert await computations.run("north", lambda: threading.current_thread().name) != here
    computations.close()


async def test_one_tenant_leaves_room_to_another_and_too_many_are_refused() -> None:
    computations, gate = Computations(), Gate()
    mine = [asyncio.create_task(computations.run("north", gate)) for _ in range(AT_ONCE // 2 + MOST_WAITING)]
    try:
        await until(lambda: gate.begun == AT_ONCE // 2)
        await asyncio.sleep(0)
        with pytest.raises(TenantBusyError) as caught:
            await computations.run("north", gate)
        assert f"{MOST_WAITING} computations of this tenant wait already" in str(caught.value)
        async with asyncio.timeout(60):
            assert await computations.run("south", lambda: "done") == "done"
        assert gate.begun == AT_ONCE // 2
        assert not any(each.done() for each in mine)
    finally:
        gate.go.set()
    await asyncio.gather(*mine)
    assert gate.begun == len(mine)
    computations.close()


async def test_a_computation_ends_when_its_caller_has_left() -> None:
    computations, ended, begun = Computations(), threading.Event(), threading.Event()

    def endless() -> None:
        begun.set()
        try:
            while True:
                check_effort()
        finally:
            ended.set()

    waiting = asyncio.create_task(computations.run("north", endless))
    await until(begun.is_set)
    waiting.cancel()
    await until(ended.is_set)
    assert waiting.cancelled() or waiting.done()
    await until(lambda: computations._slots.held_by("north") == 0)
    computations.close()


async def test_the_slot_of_an_abandoned_computation_is_its_threads_until_that_has_ended() -> None:
    computations, gate = Computations(), Gate()
    waiting = asyncio.create_task(computations.run("north", gate))
    await until(lambda: gate.begun == 1)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert computations._slots.held_by("north") == 1
    gate.go.set()
    await until(lambda: computations._slots.held_by("north") == 0)
    computations.close()


def test_work_beyond_its_budget_is_ended_with_a_sentence() -> None:
    effort, spent = Effort(), iter([0, int(EFFORT_SECONDS * 1_000_000), int(EFFORT_SECONDS * 1_000_000) + 1])
    effort._clock = lambda: next(spent)
    effort.check()
    effort.check()
    with pytest.raises(EffortError, match="more than 60 seconds of work"):
        effort.check()


def test_outside_a_computation_nothing_is_checked() -> None:
    check_effort()
    assert effort_of_computation()() >= 0
