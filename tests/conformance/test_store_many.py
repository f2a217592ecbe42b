"""Several processes on one store at once: totals are exact, nothing deadlocks, everything is seen once."""

from __future__ import annotations

import asyncio
import random

import pytest

from perdure.kernel.ports import Conflict, EntityWrite
from perdure.sources import SystemSources
from perdure.store.ports import Driver
from tests.conformance.stores import TENANT, Raw, hash_of, id_of, message, opened, store_over, unit_of, until_blocked


async def increase(driver: Driver, label: int, entity: str, mark: str) -> None:
    """Add one to an aggregate and to an entity, deciding anew until nobody was faster."""
    while True:
        loaded = await store_over(driver).load(id_of(label))
        rows = await driver.fetch("read_entity", tenant=TENANT, entity="count", key=entity)
        version, count = (rows[0][0], int(rows[0][2])) if rows else (0, 0)
        assert loaded is not None
        write = EntityWrite("count", entity, version, str(count + 1).encode(), False, "ann")
        state = str(int(loaded.state) + 1).encode()
        if await driver.commit(unit_of(label, loaded.version, state=state, mark=mark, entities=[write])) is None:
            return


async def test_overlapping_batches_of_four_processes_leave_exact_totals(store_url: str) -> None:
    chance = random.Random(7)
    async with opened(store_url, 4) as drivers:
        await asyncio.gather(*(drivers[0].commit(unit_of(label, state=b"0")) for label in range(50)))
        wanted = [0] * 50
        work: list[asyncio.Task[None]] = []
        for turn in range(240):
            label = chance.randrange(50)
            wanted[label] += 1
            work.append(asyncio.create_task(increase(drivers[turn % 4], label, f"e{label % 25}", str(turn))))
        await asyncio.gather(*work)
        found = [await store_over(drivers[0]).load(id_of(label)) for label in range(50)]
        assert [each and (each.version - 1, int(each.state)) for each in found] == [(each, each) for each in wanted]
        counts = {row[0]: int(row[2]) for row in await drivers[1].fetch(
            "list_entities", tenant=TENANT, entity="count", after="", most=50
        )}  # fmt: skip
        assert sum(counts.values()) == 240
        with Raw(store_url) as raw:
            assert raw("SELECT count(*) FROM journal") == [(290,)]


async def test_a_unit_waits_for_whoever_is_changing_its_aggregate_and_then_conflicts(postgres_url: str) -> None:
    async with opened(postgres_url) as (driver,):
        await driver.commit(unit_of("a"))
        unit = unit_of("a", 1, inbox=message("m", "a"))
        unit.records, unit.version = [], 1  # no record: only the lock on the aggregate's row can tell
        with Raw(postgres_url) as raw, Raw(postgres_url) as watch:
            raw.begin()
            raw("UPDATE aggregate SET version = 2")
            commit = asyncio.ensure_future(driver.commit(unit))
            blocked = asyncio.create_task(until_blocked(watch, 1))
            await asyncio.wait([blocked, commit], return_when=asyncio.FIRST_COMPLETED)
            blocked.cancel()
            raw("COMMIT")
            assert await commit == Conflict("version")


async def read_on(driver: Driver, cursor: int, most: int) -> tuple[int, list[tuple[bytes, int]]]:
    """Everything after a cursor, page by page."""
    found: list[tuple[bytes, int]] = []
    while page := await driver.fetch("journal_since", after=cursor, most=most):
        assert [row[0] for row in page] == sorted({row[0] for row in page})
        cursor = page[-1][0]
        found.extend((bytes(row[1]), row[2]) for row in page)
    return cursor, found


@pytest.mark.req("P7")
async def test_the_journal_is_read_in_order_page_by_page(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        await asyncio.gather(*(driver.commit(unit_of(label)) for label in range(7)))
        cursor, found = await read_on(driver, 0, 3)
        assert sorted(found) == sorted((id_of(label), 1) for label in range(7))
        await driver.commit(unit_of(0, 1))
        await driver.commit(unit_of(1, 1))
        _, found = await read_on(driver, cursor, 1)
        assert found == [(id_of(0), 2), (id_of(1), 2)]


@pytest.mark.req("P7")
@pytest.mark.parametrize("most", [1, 2, 100])
async def test_a_transaction_that_commits_late_is_still_seen_exactly_once(postgres_url: str, most: int) -> None:
    insert = "INSERT INTO journal (aggregate, sequence, body, hash) VALUES (?, 1, 'b', ?)"
    async with opened(postgres_url) as (driver,):
        await driver.commit(unit_of("before"))
        cursor, found = await read_on(driver, 0, most)
        assert found == [(id_of("before"), 1)]
        with Raw(postgres_url) as slow:
            slow.begin()
            slow(insert, id_of("slow one"), hash_of(b"b"))
            await asyncio.gather(driver.commit(unit_of("quick")), driver.commit(unit_of("fast")))
            slow(insert, id_of("slow two"), hash_of(b"b"))
            assert await read_on(driver, cursor, most) == (cursor, [])
            slow("COMMIT")
        after, found = await read_on(driver, cursor, most)
        assert sorted(found) == sorted((id_of(label), 1) for label in ("slow one", "slow two", "quick", "fast"))
        assert await read_on(driver, after, most) == (after, [])


@pytest.mark.req("P8")
async def test_a_journal_restored_on_a_younger_server_is_read_on_from_where_it_was(postgres_url: str) -> None:
    async with opened(postgres_url) as (driver,):
        for label in range(3):
            await driver.commit(unit_of(label))
    with Raw(postgres_url) as raw:
        # Rows of a backup keep the transactions of the server they were written on.
        raw("UPDATE journal SET xact = (xact::text::bigint + 1000000000)::text::xid8")
    async with opened(postgres_url, 2) as (driver, other):
        cursor, found = await read_on(driver, 0, 2)
        assert found == [(id_of(label), 1) for label in range(3)]
        await driver.commit(unit_of("new"))
        await other.commit(unit_of("newer"))
        assert (await read_on(driver, cursor, 1))[1] == [(id_of("new"), 1), (id_of("newer"), 1)]


@pytest.mark.req("X16")
async def test_what_one_process_commits_and_announces_another_notices(store_url: str) -> None:
    async with opened(store_url, 2) as (first, second):
        notice = asyncio.create_task(first.changed(30))
        await asyncio.sleep(0)
        while not notice.done():
            await second.commit(unit_of(asyncio.get_running_loop().time()))
            await second.announce()
            await asyncio.wait([notice], timeout=0.1)
        assert await notice
        assert await first.changed(0.0) in (True, False)


@pytest.mark.req("X16")
async def test_who_waits_for_others_hears_of_them_between_commits_of_their_own(store_url: str) -> None:
    async with opened(store_url, 2) as (first, second):
        notice = asyncio.create_task(first.changed_elsewhere(30))
        await asyncio.sleep(0)
        while not notice.done():
            await first.commit(unit_of(f"own {asyncio.get_running_loop().time()}"))
            await second.commit(unit_of(f"other {asyncio.get_running_loop().time()}"))
            await second.announce()
            await first.commit(unit_of(f"again {asyncio.get_running_loop().time()}"))
            await asyncio.wait([notice], timeout=0.1)
        assert await notice


async def test_who_waits_for_others_is_not_woken_by_their_own_commits(sqlite_url: str) -> None:
    async with opened(sqlite_url) as (driver,):
        notice = asyncio.create_task(driver.changed_elsewhere(0.3))
        any_change = asyncio.create_task(driver.changed(30))
        await asyncio.sleep(0)
        number = 0
        while not notice.done():
            number += 1
            await driver.commit(unit_of(f"own {number}"))
            await asyncio.wait([notice], timeout=0.01)
        assert not await notice
        assert await any_change


async def test_the_clock_of_the_store_is_known(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        at = await driver.read_clock()
        assert (at is None) == (driver.dialect == "sqlite")
        assert at is None or abs(at - SystemSources().wall()) < 60_000_000
