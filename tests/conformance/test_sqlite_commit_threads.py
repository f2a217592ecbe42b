"""Where the SQLite driver commits: what is soon done in the loop's thread, what would hold it up in the writer's."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from perdure.store.sqlite.connection import Connection, Cursor, connect
from perdure.store.sqlite.driver import DOZENS, WORTH_A_COMMIT, SqliteDriver
from tests.conformance.stores import unit_of

SLOW_SECONDS = 0.02
MOST_TRIES = 50
PATIENCE = 60
WRITER = "perdure-writer"


class Disk:
    """Says which thread committed, and lets commits stand still as long as it is told to: by its own clock."""

    def __init__(self) -> None:
        self.seconds = self.idle = 0.0
        self.committed_by: list[str] = []
        self.was_asked = threading.Event()
        """Whether the writer has tried to begin."""
        self.interrupts: list[BaseException] = []
        """What is raised when a commit is made, which is then written and nobody was told."""

    def connect(self, path: str) -> Connection:
        return Watched(connect(path), self)


class Watched:
    def __init__(self, connection: Connection, disk: Disk) -> None:
        self._connection, self._disk = connection, disk

    def execute(self, sql: str, parameters: Any = (), /) -> Cursor:
        thread = threading.current_thread().name
        if sql == "COMMIT":
            self._disk.committed_by.append(thread)
            self._disk.idle += self._disk.seconds
        elif sql == "BEGIN IMMEDIATE" and thread == WRITER:
            self._disk.was_asked.set()
        found = self._connection.execute(sql, parameters)
        if sql == "COMMIT" and self._disk.interrupts:
            raise self._disk.interrupts.pop()
        return found

    def close(self) -> None:
        self._connection.close()


@asynccontextmanager
async def opened(url: str, disk: Disk) -> AsyncIterator[SqliteDriver]:
    driver = SqliteDriver(url, url.removeprefix("sqlite:///"), connect=disk.connect)
    await driver.open()
    disk.committed_by.clear()
    try:
        yield driver
    finally:
        await driver.close()


async def commit(driver: SqliteDriver, *labels: object) -> None:
    verdicts = await asyncio.gather(*[driver.commit(unit_of(str(label))) for label in labels])
    assert verdicts == [None] * len(labels)


async def commit_until(driver: SqliteDriver, disk: Disk, thread: str, label: str) -> None:
    for number in range(MOST_TRIES):
        await commit(driver, f"{label} {number}")
        if disk.committed_by[-1] == thread:
            return
    pytest.fail(f"after {MOST_TRIES} commits none was made by {thread}")


async def test_one_unit_or_dozens_of_them_are_committed_where_the_loop_runs(sqlite_url: str) -> None:
    disk = Disk()
    async with opened(sqlite_url, disk) as driver:
        await commit(driver, "alone")
        await commit(driver, *range(DOZENS))
        await commit(driver, *range(DOZENS, DOZENS + WORTH_A_COMMIT - 1))
    assert disk.committed_by == [threading.current_thread().name] * 3


async def test_a_few_units_are_left_to_the_writer_while_more_of_them_gather(sqlite_url: str) -> None:
    disk = Disk()
    async with opened(sqlite_url, disk) as driver:
        await commit(driver, *range(2))
        await commit(driver, *range(2, DOZENS + 1))
    assert disk.committed_by == [WRITER] * 2


async def test_many_units_are_committed_by_the_writer(sqlite_url: str) -> None:
    disk = Disk()
    async with opened(sqlite_url, disk) as driver:
        await commit(driver, *range(WORTH_A_COMMIT))
    assert disk.committed_by == [WRITER]


async def test_a_slow_disk_is_left_to_the_writer_until_it_is_quick_again(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, loop_thread = Disk(), threading.current_thread().name
    monkeypatch.setattr("perdure.store.sqlite.driver._idle_seconds", lambda: disk.idle)
    async with opened(sqlite_url, disk) as driver:
        disk.seconds = SLOW_SECONDS
        await commit_until(driver, disk, WRITER, "slow")
        disk.seconds = 0.0
        await commit_until(driver, disk, loop_thread, "quick")


async def test_the_loop_goes_on_while_another_process_writes(sqlite_url: str) -> None:
    disk = Disk()
    async with opened(sqlite_url, disk) as driver:
        other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.ensure_future(commit(driver, *range(DOZENS)))
        assert await asyncio.to_thread(disk.was_asked.wait, PATIENCE)
        assert not waiting.done()
        other.execute("ROLLBACK")
        await waiting
        other.close()
    assert disk.committed_by == [WRITER]


async def test_what_cannot_be_written_is_told_apart_by_the_writer_and_harms_nobody_else(sqlite_url: str) -> None:
    disk = Disk()
    async with opened(sqlite_url, disk) as driver:
        units = [unit_of(label) for label in range(DOZENS)]
        units[1] = unit_of("bad", idempotency=("\ud800", b""))
        told = await asyncio.gather(*map(driver.commit, units), return_exceptions=True)
        assert isinstance(told[1], Exception)
        assert [*told[:1], *told[2:]] == [None] * (DOZENS - 1)
        assert await driver.fetch("count_aggregates") == [(DOZENS - 1,)]
    assert set(disk.committed_by) == {WRITER}


@pytest.mark.parametrize("count", [1, DOZENS, WORTH_A_COMMIT])
async def test_after_a_commit_was_interrupted_nobody_waits_for_ever(sqlite_url: str, count: int) -> None:
    disk, reported = Disk(), list[Any]()
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context["exception"]))
    async with opened(sqlite_url, disk) as driver:
        disk.interrupts.append(GeneratorExit("in the middle"))
        told = await asyncio.gather(*[driver.commit(unit_of(n)) for n in range(count)], return_exceptions=True)
        assert [type(each) for each in told] == [GeneratorExit] * count
        await commit(driver, "the next")
        assert await driver.fetch("count_aggregates") == [(count + 1,)]
    assert [type(each) for each in reported] == ([] if count == WORTH_A_COMMIT else [GeneratorExit])
