"""Leases: whoever lost one can write nothing, whenever it was lost; heartbeats come back by themselves."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from perdure.errors import FencedError, StoreUnavailableError
from perdure.journal import Rows, TimerRow
from perdure.kernel.ports import Conflict
from perdure.store.postgres.driver import PostgresDriver
from perdure.testing.postgres_service import PostgresService
from tests.conformance.stores import Raw, given_clock, id_of, opened, store_over, unit_of, until_blocked
from tests.conftest import unavailable

FAR = 10**9
OTHERS_END = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE pid <> pg_backend_pid() AND datname = current_database()"
)


async def test_a_fenced_worker_can_write_nothing(store_url: str) -> None:
    async with opened(store_url, 2) as (driver, other):
        store = store_over(driver)
        given_clock(driver, 0)
        driver.fence = await store.add_worker("host", "process", 100)
        assert await driver.commit(unit_of("a")) is None
        assert not await store_over(other).fence_worker(driver.fence, 99)
        assert await store_over(other).fence_worker(driver.fence, 100)
        assert not await store_over(other).fence_worker(driver.fence, 100)
        for unit in (unit_of("b"), unit_of("a", 1)):
            with pytest.raises(FencedError):
                await driver.commit(unit)
        assert await other.fetch("count_aggregates") == [(1,)]
        assert [each.number for each in await store.live_workers()] == []


async def test_a_worker_fenced_while_its_commit_waits_writes_nothing(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        given_clock(driver, 0)
        driver.fence = await store_over(driver).add_worker("host", "process", 100)
        with Raw(store_url) as raw, Raw(store_url) as watch:
            raw.begin()
            assert raw.named("fence_worker", number=driver.fence, lease_until=100)
            commit = asyncio.ensure_future(driver.commit(unit_of("a")))
            if raw.is_postgres:
                await until_blocked(watch, 1)
            raw("COMMIT")
            with pytest.raises(FencedError):
                await commit
            assert raw("SELECT count(*) FROM aggregate") == [(0,)]


async def test_taking_a_lease_away_waits_for_the_commit_under_it_but_heartbeats_do_not(postgres_url: str) -> None:
    async with opened(postgres_url, 2) as (driver, other):
        given_clock(driver, 0)
        driver.fence = await store_over(driver).add_worker("host", "process", 100)
        extend, close = driver.beat()
        await driver.commit(unit_of("a"))
        with Raw(postgres_url) as raw, Raw(postgres_url) as watch:
            raw.begin()
            raw("SELECT id FROM aggregate WHERE id = ? FOR UPDATE", id_of("a"))
            commit = asyncio.ensure_future(driver.commit(unit_of("a", 1)))
            await until_blocked(watch, 1)
            assert await asyncio.to_thread(extend, driver.fence, 100) == 0
            fence = asyncio.create_task(store_over(other).fence_worker(driver.fence, 100))
            await until_blocked(watch, 2)
            raw("ROLLBACK")
            assert await commit is None
            assert await fence
        close()
        with pytest.raises(FencedError):
            await driver.commit(unit_of("a", 2))


async def test_a_heartbeat_extends_a_lease_until_it_is_taken_away(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        moments = given_clock(driver, 0)
        number = await store.add_worker("host", "process", 100)
        extend, close = driver.beat()
        moments[0] = 50
        assert await asyncio.to_thread(extend, number, 150) == 50
        assert [each.lease_until for each in await store.live_workers()] == [200]
        assert not await store.fence_worker(number, 199)
        assert await store.fence_worker(number, 200)
        assert await asyncio.to_thread(extend, number, 300) is None
        close()


async def test_a_lease_is_taken_once_it_has_run_out_and_not_before(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store, moments = store_over(driver), given_clock(driver, 0)
        number = await store.add_worker("host", "process", 100)
        moments[0] = 100
        assert [each.is_lapsed for each in await store.live_workers()] == [False]
        assert not await store.fence_lapsed(number)
        moments[0] = 101
        assert [each.is_lapsed for each in await store.live_workers()] == [True]
        assert await store.fence_lapsed(number)
        assert not await store.fence_lapsed(number)


async def test_on_postgres_the_clock_of_the_database_judges_leases(postgres_url: str) -> None:
    async with opened(postgres_url) as (driver,):
        store = store_over(driver)
        live, over = await store.add_worker("host", "one", 60_000_000), await store.add_worker("host", "two", -1)
        extend, close = driver.beat()
        at = await asyncio.to_thread(extend, live, 60_000_000)
        close()
        asked = await driver.read_clock()
        assert at is not None and asked is not None and 0 <= asked - at < 60_000_000
        assert {each.number: each.is_lapsed for each in await store.live_workers()} == {live: False, over: True}
        assert not await store.fence_lapsed(live)
        assert await store.fence_lapsed(over)


@pytest.mark.req("V21")
async def test_a_unit_is_written_no_earlier_than_it_is_due(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        moments = given_clock(driver, 99)
        await driver.commit(unit_of("a"))
        late = msgspec.structs.replace(unit_of("a", 1), due=100)
        others = [driver.commit(late), driver.commit(unit_of("b"))]
        assert await asyncio.gather(*others) == [Conflict("early"), None]
        moments[0] = 100
        assert await driver.commit(late) is None


@pytest.mark.req("V21")
async def test_on_postgres_the_clock_of_the_database_says_what_is_due(postgres_url: str) -> None:
    async with opened(postgres_url) as (driver,):
        at = await driver.read_clock()
        assert at is not None
        due, hour = at - 1, 3_600_000_000
        timers = Rows(timers=(TimerRow(1, "retry", due), TimerRow(2, "retry", due + hour)))
        await driver.commit(unit_of("a", after=timers))
        found = await store_over(driver).timers_within(0, b"", 0, 10)
        assert [(timer.due, timer.step) for timer in found] == [(due, 1)]
        assert await driver.commit(msgspec.structs.replace(unit_of("a", 1), due=due + hour)) == Conflict("early")
        assert await driver.commit(msgspec.structs.replace(unit_of("a", 1), due=due)) is None


async def test_a_heartbeat_reconnects_and_raises_only_while_the_server_is_away(
    postgres_server: PostgresService, postgres_url: str
) -> None:
    if not postgres_server.is_own:
        unavailable("the Postgres in use was named from outside and is not ours to stop")
    async with opened(postgres_url) as (driver,):
        number = await store_over(driver).add_worker("host", "process", FAR)
        extend, close = driver.beat()
        assert await asyncio.to_thread(extend, number, FAR)
        with Raw(postgres_url) as raw:
            raw(OTHERS_END)
        assert await asyncio.to_thread(extend, number, FAR + 1)
        await asyncio.to_thread(postgres_server.kill)
        with pytest.raises(StoreUnavailableError):
            await asyncio.to_thread(extend, number, FAR + 2)
        await asyncio.to_thread(postgres_server.start)
        assert await asyncio.to_thread(extend, number, FAR + 3)
        close()


async def test_workers_that_are_gone_and_hold_nothing_are_forgotten(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        given_clock(driver, 0)
        numbers = [await store.add_worker("host", f"p{n}", 10) for n in range(3)]
        assert sorted(set(numbers)) == numbers
        await store.fence_worker(numbers[0], 10)
        await store.forget_workers(11)
        with Raw(driver.url) as raw:
            assert raw("SELECT number FROM worker ORDER BY number") == [(n,) for n in numbers[1:]]
        assert isinstance(driver.fence, int) and driver.dialect in ("sqlite", PostgresDriver.dialect)
