"""The rows a state stands for follow it, and the lists read from them are right."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from perdure.journal import IncidentRow, JobRow, ParkedRow, Rows, TimerRow
from tests.conformance.stores import TENANT, id_of, opened, store_over, unit_of


async def test_timers_jobs_incidents_and_tokens_follow_the_state(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        first = Rows(
            (ParkedRow(1, 1, "answer", "k", 0, 7),), (TimerRow(1, "timeout", 100), TimerRow(2, "retry", 50)),
            (JobRow(2, 0, 7), JobRow(3, 0, 8)), (IncidentRow(4, "stuck", 10),),
        )  # fmt: skip
        second = Rows(
            (ParkedRow(1, 1, "answer", "k", 1, 7),), (TimerRow(2, "retry", 60),), (JobRow(3, 99, 8),),
            (IncidentRow(4, "worse", 20),),
        )  # fmt: skip
        await driver.commit(unit_of("a", after=first))
        assert [row[:4] for row in await store.due_timers(0, b"", 1000, 10)] == [
            (50, id_of("a"), 2, "retry"), (100, id_of("a"), 1, "timeout"),
        ]  # fmt: skip
        assert await driver.fetch("jobs_of", aggregate=id_of("a")) == [(2, 0, 7), (3, 0, 8)]
        assert await store.incidents(TENANT, 5) == [(id_of("a"), 4, "stuck", 10)]
        assert [each.key for each in await store.parked(TENANT, 0, 5)] == ["k"]
        await driver.commit(unit_of("a", 1, before=first, after=second))
        assert [row[:4] for row in await store.due_timers(0, b"", 1000, 10)] == [(60, id_of("a"), 2, "retry")]
        assert await driver.fetch("jobs_of", aggregate=id_of("a")) == [(3, 99, 8)]
        assert await store.incidents(TENANT, 5) == [(id_of("a"), 4, "worse", 20)]
        assert await store.parked(TENANT, 0, 5) == []
        await driver.commit(unit_of("a", 2, before=second))
        assert await store.due_timers(0, b"", 1000, 10) == []
        assert await driver.fetch("jobs_of", aggregate=id_of("a")) == []
        assert await store.incidents(TENANT, 5) == []


async def test_due_timers_are_read_page_by_page_without_gap_or_repetition(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        wanted = sorted((10 + label // 3, id_of(label)) for label in range(20))
        for label in range(20):
            await driver.commit(unit_of(label, after=Rows(timers=(TimerRow(1, "timeout", 10 + label // 3),))))
        found: list[tuple[int, bytes]] = []
        place = (0, b"")
        while page := await store.due_timers(*place, 15, 4):
            assert len(page) <= 4
            found.extend((timer.due, bytes(timer.aggregate)) for timer in page)
            place = found[-1]
        assert found == [each for each in wanted if each[0] <= 15]


async def test_parked_tokens_are_listed_page_by_page_for_their_tenant_only(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        for label in range(7):
            await driver.commit(unit_of(label, after=Rows((ParkedRow(1, 1, "answer", f"k{label}", 0, 7),))))
        first = await store.parked(TENANT, 0, 4)
        rest = await store.parked(TENANT, first[-1].number, 4)
        assert [each.key for each in (*first, *rest)] == [f"k{label}" for label in range(7)]
        assert await store.parked("other", 0, 4) == []
        assert len(await store.parked_by_definition(7, 0, 10)) == 7


async def test_open_jobs_are_ready_ones_and_those_of_workers_that_are_gone(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        alive = await store.add_worker("host", "alive", 10**9)
        gone = await store.add_worker("host", "gone", 5)
        for label, worker in (("ready", 0), ("held", alive), ("abandoned", gone)):
            await driver.commit(unit_of(label, after=Rows(jobs=(JobRow(1, worker, 7),))))
        assert [job.aggregate for job in await store.open_jobs(10)] == [id_of("ready")]
        assert await store.fence_worker(gone, 2**62)
        found = {(job.aggregate, job.worker) for job in await store.open_jobs(10)}
        assert found == {(id_of("ready"), 0), (id_of("abandoned"), gone)}


LIVES = [
    [("active", 0), ("active", 0), ("active", 0), ("completed", 7)],
    [("active", 0), ("suspended", 0), ("suspended", 0), ("active", 0)],
    [("active", 0), ("failed", 5), ("failed", 6), ("failed", 0)],
    [("active", 0), ("active", 5), ("active", 0), ("erased", 0)],
]


@pytest.mark.parametrize("lives", [LIVES, *([life] for life in LIVES)], ids=lambda lives: str(len(lives)))
async def test_status_and_end_follow_the_state_whoever_shares_the_commit(
    store_url: str, lives: Sequence[Sequence[tuple[str, int]]]
) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        for turn in range(4):
            units = [unit_of(label, turn, state=f"{turn}".encode()) for label in range(len(lives))]
            for unit, life in zip(units, lives, strict=True):
                unit.kind, (unit.status, unit.ended_at) = "instance", life[turn]
            assert await asyncio.gather(*map(driver.commit, units)) == [None] * len(units)
            for unit in units:
                assert unit.id is not None
                loaded = await store.load(unit.id)  # what its checksum was made over
                assert loaded is not None and (loaded.version, loaded.state) == (turn + 1, unit.state)
                page = {"tenant": TENANT, "kind": "instance", "before": b"\xff" * 16, "most": 9}
                in_status = await driver.fetch("list_ids_in", status=unit.status, **page)
                assert unit.id in [bytes(row[0]) for row in in_status]
                assert len(await driver.fetch("list_ids", **page)) == len(units)
            ended = {(unit.status, unit.ended_at) for unit in units if unit.ended_at}
            stretch = {"tenant": TENANT, "kind": "instance", "since": 1, "until": 9, "most": 9}
            assert {row[0] for row in await driver.fetch("count_ended", **stretch)} == {status for status, _ in ended}
