"""Whoever submits a unit is told once, in the loop's thread, whatever happens to the others of its batch."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from perdure.errors import PerdureError
from perdure.kernel.ports import Conflict, Told, Unit, Verdict
from perdure.store.driver_selection import open_driver
from perdure.store.ports import Driver
from perdure.testing.fault_injection import Crash, FaultyDriver, Side
from tests.conformance.stores import TENANT, id_of, lone, message, opened, store_over, unit_of


class Heard:
    """What was told of which unit, and in which thread."""

    def __init__(self, count: int) -> None:
        self.verdicts: list[tuple[object, Verdict]] = []
        self.threads: set[int] = set()
        self._left = count
        self._all = asyncio.Event()

    def of(self, label: object) -> Told:
        def told(verdict: Verdict) -> None:
            self.verdicts.append((label, verdict))
            self.threads.add(threading.get_ident())
            self._left -= 1
            if not self._left:
                self._all.set()

        return told

    async def all(self) -> list[tuple[object, Verdict]]:
        await self._all.wait()
        return self.verdicts


@pytest.fixture(params=["driver", "store"])
def floor(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def submit(driver: Driver, floor: str, unit: Unit, told: Told) -> None:
    (store_over(driver) if floor == "store" else driver).submit(unit, told)


async def test_units_submitted_together_are_told_in_their_order_what_became_of_each(store_url: str, floor: str) -> None:
    async with opened(store_url) as (driver,):
        heard, before = Heard(4), driver.commits
        for label, unit in enumerate((unit_of("a"), unit_of("b", 3), unit_of("c", state=None), unit_of("d"))):  # type: ignore[arg-type]
            submit(driver, floor, unit, heard.of(label))
            assert heard.verdicts == []
        (_, first), (_, second), (_, third), (_, fourth) = await heard.all()
        assert [label for label, _ in heard.verdicts] == [0, 1, 2, 3]
        assert (first, second, fourth) == (None, Conflict("version"), None)
        assert isinstance(third, Exception)
        assert heard.threads == {threading.get_ident()}
        assert await driver.fetch("count_aggregates") == [(2,)]
        assert driver.commits > before


@pytest.mark.parametrize("count", [1, 2, 100])
async def test_nobody_is_told_before_submitting_has_returned(store_url: str, count: int) -> None:
    async with opened(store_url) as (driver,):
        heard = Heard(count)
        for label in range(count):
            driver.submit(unit_of(label), heard.of(label))
            assert heard.verdicts == []
        assert await heard.all() == [(label, None) for label in range(count)]


async def test_nobody_is_told_before_submitting_has_returned_where_all_happens_in_one_thread() -> None:
    async with opened("sqlite://") as (driver,):
        heard = Heard(100)
        for label in range(100):
            driver.submit(unit_of(label), heard.of(label))
            assert heard.verdicts == []
        assert await heard.all() == [(label, None) for label in range(100)]


async def test_one_who_fails_when_told_is_reported_and_the_others_are_told(store_url: str) -> None:
    def fails(verdict: Verdict) -> None:
        raise RuntimeError("cannot bear it")

    reported: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: reported.append(context))
    async with opened(store_url) as (driver,):
        heard = Heard(2)
        for label, told in (("a", heard.of("a")), ("b", fails), ("c", heard.of("c"))):
            driver.submit(unit_of(label), told)
        assert await heard.all() == [("a", None), ("c", None)]
        assert [str(each["exception"]) for each in reported] == ["cannot bear it"]
        assert await driver.commit(unit_of("d")) is None
        assert await driver.fetch("count_aggregates") == [(4,)]


async def test_a_closed_store_tells_everyone_so(store_url: str) -> None:
    heard = Heard(2)
    async with opened(store_url) as (driver,):
        for label in ("first", "second"):
            driver.submit(unit_of(label), heard.of(label))
    late = Heard(1)
    driver.submit(unit_of("late"), late.of("late"))
    assert late.verdicts == []
    ((_, refusal),) = await late.all()
    assert isinstance(refusal, PerdureError) and "closed" in str(refusal)
    await heard.all()
    again = open_driver(store_url)
    await again.open()
    try:
        for label, verdict in heard.verdicts:
            assert verdict is None or "closed" in str(verdict)
            assert bool(await again.fetch("load_aggregate", id=id_of(label))) == (verdict is None)
    finally:
        await again.close()


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("way", ["submit", "commit"])
async def test_an_injected_crash_meets_submit_and_commit_alike(store_url: str, side: Side, way: str) -> None:
    async with opened(store_url) as (inner,):
        driver, first, never = FaultyDriver(inner, 1, side), Heard(1), Heard(1)
        if way == "submit":
            driver.submit(lone(message("m")), first.of("m"))
            assert [type(verdict) for _, verdict in await first.all()] == [Crash]
        else:
            with pytest.raises(Crash):
                await driver.commit(lone(message("m")))
        driver.submit(lone(message("never")), never.of("never"))
        assert [type(verdict) for _, verdict in await never.all()] == [Crash]
        assert bool(await store_over(inner).message(TENANT, "m")) == (side == "after")
        assert await store_over(inner).message(TENANT, "never") is None
