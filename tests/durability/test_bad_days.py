"""Full disks, locked files, servers that are away, files that are none: nothing is lost and the message helps."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psycopg
import pytest

from perdure import Perdure
from perdure.errors import PerdureError, StoreFullError, StoreSettingError, StoreUnavailableError
from perdure.kernel.ports import Conflict, Unit
from perdure.store.audit import verify
from perdure.store.commit_callbacks import awaited
from perdure.store.migrations import newest
from perdure.store.ports import Driver
from perdure.store.sqlite.connection import Connection, connect
from perdure.testing.fault_injection import submitting
from perdure.testing.postgres_service import PostgresService
from tests.conftest import ROOT, unavailable
from tests.crash.scenarios import Handlers
from tests.durability.platform import PATH_PREFIX, impatient_driver, opened, plain_driver, sqlite_driver
from tests.on_disk import postgres_server, postgres_template, store_folder

__all__ = ["postgres_server", "postgres_template", "store_folder"]

OPENERS = 4
MOST_CALLS = 200
SPARE_PAGES = 6
HANG_SECONDS = 30
"""After so long a caller is taken for one that is never answered."""


async def assert_sound(perdure: Perdure) -> None:
    report = await verify(perdure.runtime.store, perdure.runtime.machines, {}, dry=True)
    assert report.is_clean, report.findings


class SmallDisk:
    """Connects to a file that cannot grow beyond so many pages, until there is room again."""

    def __init__(self) -> None:
        self.made: list[Connection] = []

    def connect(self, path: str) -> Connection:
        self.made.append(connect(path))
        return self.made[-1]

    def fill(self) -> None:
        (pages,) = self.made[0].execute("PRAGMA page_count").fetchone()
        for connection in self.made:
            connection.execute(f"PRAGMA max_page_count = {pages + SPARE_PAGES}").fetchone()

    def empty(self) -> None:
        for connection in self.made:
            connection.execute("PRAGMA max_page_count = 1000000").fetchone()


@pytest.mark.req("V17")
async def test_on_a_full_disk_the_caller_is_told_and_nothing_acknowledged_is_lost(sqlite_url: str) -> None:
    disk = SmallDisk()
    async with opened(sqlite_driver(sqlite_url, disk.connect), role="caller") as perdure:
        kept = [await perdure.call("t.wait")]
        disk.fill()
        with pytest.raises(StoreFullError) as caught:
            for _ in range(MOST_CALLS):
                kept.append(await perdure.call("t.wait"))
        assert "Nothing of this commit was written. Free some space" in str(caught.value)
        assert [(await perdure.status(view.id)).state for view in kept] == ["parked"] * len(kept)
        with pytest.raises(StoreFullError):
            for _ in range(MOST_CALLS):
                await perdure.call("t.wait")
        disk.empty()
        for view in kept:
            assert (await perdure.complete(view.id, {})).answer == "applied"
        await assert_sound(perdure)


def when_refused(driver: Driver, mend: Callable[[], object]) -> list[PerdureError]:
    """Mend what is broken once a commit was refused; returns a list of the refusals."""
    commit, refusals = partial(awaited, driver.submit), list[PerdureError]()

    async def watched(unit: Unit) -> Conflict | None:
        try:
            return await commit(unit)
        except (StoreFullError, StoreUnavailableError) as error:
            refusals.append(error)
            mend()
            raise

    driver.submit = submitting(watched)  # type: ignore[method-assign]
    return refusals


@pytest.mark.req("X6")
async def test_a_result_that_the_full_disk_refused_is_recorded_when_there_is_room(sqlite_url: str) -> None:
    disk, handlers = SmallDisk(), Handlers()

    async def run(call: object) -> dict[str, str]:
        handlers.runs["run"] += 1
        disk.fill()
        return {"text": "a" * 60_000}

    driver = sqlite_driver(sqlite_url, disk.connect)
    refusals = when_refused(driver, disk.empty)
    async with opened(driver, {**handlers.bound(), "t.external": run}) as perdure:
        done = await perdure.call("t.external")
        assert [type(error) for error in refusals] == [StoreFullError]
        assert (done.state, handlers.runs["run"]) == ("completed", 1)
        await assert_sound(perdure)


@pytest.mark.req("X6")
async def test_who_waits_for_a_result_that_the_full_disk_refuses_is_told_and_it_is_recorded_later(
    sqlite_url: str,
) -> None:
    disk, handlers = SmallDisk(), Handlers()

    async def run(call: object) -> dict[str, str]:
        handlers.runs["run"] += 1
        disk.fill()
        return {"text": "a" * 60_000}

    async with opened(sqlite_driver(sqlite_url, disk.connect), {**handlers.bound(), "t.external": run}) as perdure:
        async with asyncio.timeout(HANG_SECONDS):
            with pytest.raises(StoreFullError, match="its result is recorded once there is room") as caught:
                await perdure.call("t.external", idempotency_key="k")
            with pytest.raises(StoreFullError, match="its result is recorded once there is room"):
                await perdure.wait(caught.value.id)
        disk.empty()
        async with asyncio.timeout(HANG_SECONDS):
            assert (await perdure.wait(caught.value.id)).state == "completed"
        assert (await perdure.call("t.external", idempotency_key="k")).id == caught.value.id
        assert handlers.runs["run"] == 1
        await assert_sound(perdure)


@pytest.mark.req("X6")
async def test_a_job_whose_start_was_committed_but_never_answered_is_taken_up(store_url: str) -> None:
    """The caller was told nothing, the job is leased to this very process, and no other will ever take it over."""
    driver, handlers = plain_driver(store_url), Handlers()
    commit, lost = partial(awaited, driver.submit), list[Unit]()

    async def answerless(unit: Unit) -> Conflict | None:
        conflict = await commit(unit)
        if not lost and unit.records:
            lost.append(unit)
            raise StoreUnavailableError("reach", "store", store_url, "it did not answer")
        return conflict

    driver.submit = submitting(answerless)  # type: ignore[method-assign]
    async with opened(driver, handlers.bound()) as perdure:
        with pytest.raises(StoreUnavailableError):
            await perdure.call("t.external", idempotency_key="k")
        assert handlers.runs["t.external"] == 0
        await perdure.runtime.check()
        await perdure.runtime.check()
        done = await perdure.call("t.external", idempotency_key="k", timeout_seconds=60)
        assert (done.state, handlers.runs["t.external"]) == ("completed", 1)
        await assert_sound(perdure)


@pytest.mark.req("X6")
async def test_a_job_that_is_running_is_never_taken_for_forgotten(store_url: str) -> None:
    handlers, may_end = Handlers(), asyncio.Event()

    async def run(call: object) -> dict[str, int]:
        handlers.runs["run"] += 1
        await may_end.wait()
        return {}

    async with opened(plain_driver(store_url), {**handlers.bound(), "t.external": run}) as perdure:
        calling = asyncio.ensure_future(perdure.call("t.external"))
        while not handlers.runs["run"]:
            await asyncio.sleep(0)
        for _ in range(3):
            await perdure.runtime.check()
        may_end.set()
        assert (await calling).state == "completed"
        assert handlers.runs["run"] == 1


@pytest.mark.req("V17")
async def test_a_database_locked_by_another_process_is_waited_for_and_then_told(sqlite_url: str) -> None:
    async with opened(impatient_driver(sqlite_url), role="caller") as perdure:
        before = await perdure.call("t.wait")
        other = sqlite3.connect(sqlite_url.removeprefix(PATH_PREFIX), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailableError) as caught:
            await perdure.call("t.none", idempotency_key="k")
        assert "another process kept it locked" in str(caught.value)
        assert "look for a process that keeps a transaction open" in caught.value.hint
        assert (await perdure.status(before.id)).state == "parked"  # reading goes on meanwhile
        other.execute("ROLLBACK")
        other.close()
        assert (await perdure.call("t.none", idempotency_key="k")).state == "completed"
        await assert_sound(perdure)


@pytest.mark.req("V17")
async def test_while_postgres_is_away_callers_are_told_and_afterwards_work_goes_on(
    postgres_server: PostgresService, postgres_url: str
) -> None:
    if not postgres_server.is_own:
        unavailable("a named Postgres server is not stopped")
    async with opened(impatient_driver(postgres_url)) as perdure:
        before = await perdure.call("t.wait")
        postgres_server.kill()
        try:
            for ask in (perdure.call("t.none", idempotency_key="k"), perdure.status(before.id), perdure.parked()):
                with pytest.raises(StoreUnavailableError) as caught:
                    await ask
                assert "it did not answer" in str(caught.value)
                assert "asking again under the same key is safe" in caught.value.hint
            with pytest.raises(StoreUnavailableError, match="it did not answer"):
                await impatient_driver(postgres_url).open()
        finally:
            postgres_server.start()
        assert (await perdure.call("t.none", idempotency_key="k")).state == "completed"
        assert (await perdure.complete(before.id, {"done": 1})).answer == "applied"
        assert (await perdure.call("t.external")).state == "completed"
        await assert_sound(perdure)


@pytest.mark.req("X6")
async def test_a_result_that_postgres_was_away_for_is_recorded_when_it_is_back(
    postgres_server: PostgresService, postgres_url: str
) -> None:
    if not postgres_server.is_own:
        unavailable("a named Postgres server is not stopped")
    handlers = Handlers()

    async def run(call: object) -> dict[str, int]:
        handlers.runs["run"] += 1
        postgres_server.kill()
        return {"run": handlers.runs["run"]}

    driver = impatient_driver(postgres_url)
    refusals = when_refused(driver, postgres_server.start)
    try:
        async with opened(driver, {**handlers.bound(), "t.external": run}) as perdure:
            done = await perdure.call("t.external")
            assert refusals
            assert (done.state, done.result, handlers.runs["run"]) == ("completed", {"run": 1}, 1)
            await assert_sound(perdure)
    finally:
        postgres_server.start()


@pytest.mark.req("P8")
async def test_a_file_that_may_not_be_written_is_refused_by_name(sqlite_url: str) -> None:
    async with opened(plain_driver(sqlite_url), role="caller") as perdure:
        await perdure.call("t.wait")
    path = sqlite_url.removeprefix(PATH_PREFIX)
    driver = sqlite_driver(sqlite_url, lambda _: connect(f"file:{path}?mode=ro"))
    with pytest.raises(StoreUnavailableError, match=r"readonly|read-only") as caught:
        async with opened(driver, role="caller"):
            pass
    assert "writable" in caught.value.hint


@pytest.mark.req("P8")
async def test_a_folder_that_may_not_be_written_or_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "sealed"
    folder.mkdir(mode=0o500)
    places = [tmp_path / "missing" / "store.db"]
    if os.geteuid() != 0:  # nothing is read-only to root
        places.append(folder / "store.db")
    for place in places:
        with pytest.raises(StoreUnavailableError, match="unable to open database file") as caught:
            await plain_driver(f"{PATH_PREFIX}{place}").open()
        assert str(place) in str(caught.value)
        assert "Check that the folder exists and is writable." in caught.value.hint


@pytest.mark.req("P8")
async def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_text("Dear diary, " * 1000)
    with pytest.raises(StoreSettingError, match="no SQLite database") as caught:
        await plain_driver(f"{PATH_PREFIX}{path}").open()
    assert "Restore a backup" in caught.value.hint
    assert path.read_text() == "Dear diary, " * 1000


@pytest.mark.req("P8")
async def test_a_schema_from_the_future_is_refused_and_left_alone(store_url: str) -> None:
    async with opened(plain_driver(store_url), role="caller") as perdure:
        before = await perdure.call("t.wait")
    _set_schema(store_url, 999)
    with pytest.raises(StoreSettingError, match="its schema is 999 and this release knows") as caught:
        await plain_driver(store_url).open()
    assert caught.value.hint == "Use the release that wrote it, or a newer one."
    _set_schema(store_url, newest("sqlite"))
    async with opened(plain_driver(store_url), role="caller") as perdure:
        assert (await perdure.status(before.id)).state == "parked"


def _set_schema(url: str, number: int) -> None:
    if url.startswith(PATH_PREFIX):
        raw = sqlite3.connect(url.removeprefix(PATH_PREFIX))
        raw.execute(f"PRAGMA user_version = {number}")
        raw.close()
        return
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("UPDATE meta SET value = %s WHERE name = 'schema'", [str(number)])


@pytest.mark.req("P8")
def test_processes_that_open_a_new_store_at_once_all_succeed(store_url: str) -> None:
    command = [sys.executable, "-m", "tests.durability.opener", store_url]
    openers = [
        subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(OPENERS)
    ]
    for opener in openers:
        assert opener.stdout is not None
        assert opener.stdout.readline() == "ready\n"
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write("go\n")
        opener.stdin.flush()
    told = [opener.communicate() for opener in openers]
    assert [out for out, _ in told] == ["completed\n"] * OPENERS, told


async def test_a_store_that_was_closed_says_so(store_url: str) -> None:
    async with opened(plain_driver(store_url), role="caller") as perdure:
        pass
    with pytest.raises(PerdureError, match="it has been closed"):
        await perdure.call("t.none")
