"""Durability settings are asserted on every connection: one that would not be durable is never used."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from perdure.errors import PerdureError, StoreSettingError, StoreUnavailableError
from perdure.store.sqlite.connection import Connection, Cursor, connect
from perdure.store.sqlite.driver import SqliteDriver
from tests.durability.platform import impatient_driver, opened, sqlite_driver
from tests.on_disk import postgres_server, postgres_template, store_folder

__all__ = ["postgres_server", "postgres_template", "store_folder"]

WAIT_SECONDS = 30.0


class Deaf:
    """A connection that takes no notice of some statements, as a file system or a build may."""

    def __init__(self, inner: Connection, ignored: str) -> None:
        self._inner, self._ignored = inner, ignored

    def execute(self, statement: str, parameters: Any = (), /) -> Cursor:
        return self._inner.execute("SELECT 0" if statement.startswith(self._ignored) else statement, parameters)

    def close(self) -> None:
        self._inner.close()


def nth_deaf(number: int, ignored: str) -> Callable[[str], Connection]:
    """Connections of which the nth is deaf."""
    made: list[str] = []

    def connecting(path: str) -> Connection:
        made.append(path)
        inner = connect(path)
        if len(made) != number:
            return inner
        inner.execute("PRAGMA synchronous = NORMAL")
        return Deaf(inner, ignored)

    return connecting


@pytest.mark.req("V17")
async def test_every_sqlite_connection_syncs_every_commit(sqlite_url: str) -> None:
    made: list[Connection] = []

    def recorded(path: str) -> Connection:
        made.append(connect(path))
        return made[-1]

    async with opened(sqlite_driver(sqlite_url, recorded), role="caller") as perdure:
        await perdure.call("t.external")
        _, close = perdure.runtime.driver.beat()
        assert len(made) >= 3  # the writer, the reader, the heartbeat
        for connection in made:
            assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        close()


@pytest.mark.req("V17")
@pytest.mark.parametrize("number", [1, 2], ids=["writer", "reader"])
async def test_a_sqlite_connection_that_would_not_sync_is_refused_when_opening(number: int, sqlite_url: str) -> None:
    driver = sqlite_driver(sqlite_url, nth_deaf(number, "PRAGMA synchronous ="))
    with pytest.raises(StoreSettingError, match="PRAGMA synchronous is 1, not 2"):
        await driver.open()


@pytest.mark.req("V17")
async def test_a_heartbeat_that_would_not_sync_is_refused(sqlite_url: str) -> None:
    driver = sqlite_driver(sqlite_url, nth_deaf(3, "PRAGMA synchronous ="))
    await driver.open()
    try:
        with pytest.raises(StoreSettingError, match="synchronous"):
            driver.beat()
    finally:
        await driver.close()


@pytest.mark.req("V17")
async def test_a_file_system_without_shared_memory_is_refused(tmp_path: Path) -> None:
    path = f"file:{tmp_path / 'store.db'}?vfs=unix-dotfile"
    with pytest.raises(StoreSettingError, match="journal_mode is 'delete', not 'wal'") as caught:
        await SqliteDriver("sqlite:///store.db", path).open()
    assert "Use a local disk" in caught.value.hint


def change_database(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        name = sql.Identifier(admin.info.dbname)
        admin.execute(sql.SQL(statement).format(name))  # type: ignore[arg-type, unused-ignore]


def end_sessions(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.mark.req("V17")
@pytest.mark.parametrize(
    "statement",
    [
        "ALTER DATABASE {} SET synchronous_commit = off",
        "ALTER DATABASE {} SET synchronous_commit = local",
        "ALTER ROLE CURRENT_USER IN DATABASE {} SET synchronous_commit = off",
    ],
)
async def test_a_postgres_session_that_would_not_wait_for_the_disk_is_refused(
    statement: str, postgres_url: str
) -> None:
    change_database(postgres_url, statement)
    with pytest.raises(StoreSettingError, match="synchronous_commit is") as caught:
        await impatient_driver(postgres_url).open()
    assert "Set synchronous_commit = on" in caught.value.hint


@pytest.mark.req("V17")
async def test_every_later_postgres_connection_is_checked_as_well(postgres_url: str) -> None:
    async with opened(impatient_driver(postgres_url), role="caller") as perdure:
        before = await perdure.call("t.wait")
        extend, close = perdure.runtime.driver.beat()
        change_database(postgres_url, "ALTER DATABASE {} SET synchronous_commit = off")
        end_sessions(postgres_url)
        with pytest.raises(StoreSettingError, match="synchronous_commit"):
            await perdure.runtime.driver.write("forget_worker", number=0, before=0)
        with pytest.raises(StoreSettingError, match="synchronous_commit"):
            await perdure.status(before.id)
        with pytest.raises(StoreSettingError, match="synchronous_commit"):
            await perdure.call("t.none")
        with pytest.raises(PerdureError, match="synchronous_commit"):
            extend(perdure.runtime.lease.number, 10**9)
        change_database(postgres_url, "ALTER DATABASE {} RESET synchronous_commit")
        assert (await perdure.status(before.id)).state == "parked"
        assert (await perdure.call("t.none")).state == "completed"
        assert extend(perdure.runtime.lease.number, 10**9)
        close()


async def test_a_heartbeat_that_cannot_connect_at_first_tries_again(sqlite_url: str) -> None:
    driver = sqlite_driver(sqlite_url)
    real, has_beaten = driver.beat, threading.Event()
    attempts: list[int] = []

    def beat() -> tuple[Callable[[int, int], int | None], Callable[[], None]]:
        attempts.append(1)
        if len(attempts) == 1:
            raise StoreUnavailableError("reach", "store", sqlite_url, "it is locked") from sqlite3.OperationalError()
        extend, close = real()

        def extended(number: int, duration: int) -> int | None:
            is_held = extend(number, duration)
            has_beaten.set()
            return is_held

        return extended, close

    driver.beat = beat  # type: ignore[method-assign]
    async with opened(driver, role="caller", lease_seconds=0.05):
        assert has_beaten.wait(WAIT_SECONDS)
    assert len(attempts) == 2
