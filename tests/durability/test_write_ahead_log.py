"""The write-ahead log of SQLite: it fills no disk for good, and is cut when it had to grow."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from perdure.errors import StoreFullError
from perdure.store.audit import verify
from perdure.store.sqlite import connection as connections
from tests.durability.disk import bounded_disk
from tests.durability.platform import PATH_PREFIX, opened, sqlite_driver
from tests.on_disk import postgres_server, postgres_template, store_folder

__all__ = ["postgres_server", "postgres_template", "store_folder"]

ROOM = 3_000_000
A_LITTLE = 700_000
MOST_CALLS = 1000
MORE_CALLS = 60


def size_of(file: str) -> int:
    return Path(file).stat().st_size


@pytest.mark.req("V17")
async def test_a_disk_full_of_the_log_itself_is_written_to_again_once_there_is_a_little_room(sqlite_url: str) -> None:
    """The log is much larger than what it holds: folded into the file, it leaves room for more than was added."""
    log = f"{sqlite_url.removeprefix(PATH_PREFIX)}-wal"
    with bounded_disk(ROOM) as (room, connect):
        async with opened(sqlite_driver(sqlite_url, connect), role="caller") as perdure:
            kept = [await perdure.call("t.wait")]
            room.bytes = room.size(log) + ROOM // 2
            with pytest.raises(StoreFullError):
                for _ in range(MOST_CALLS):
                    kept.append(await perdure.call("t.wait"))
            room.bytes += A_LITTLE
            for _ in range(MORE_CALLS):
                kept.append(await perdure.call("t.wait"))
            for view in kept:
                assert (await perdure.complete(view.id, {})).answer == "applied"
            report = await verify(perdure.runtime.store, perdure.runtime.machines, {}, dry=True)
            assert report.is_clean, report.findings


@pytest.mark.req("V17")
async def test_a_log_that_grew_while_somebody_read_is_cut_when_it_begins_anew(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CHECKPOINT_PAGES", 50)
    monkeypatch.setattr(connections, "LOG_BYTES", 300_000, raising=False)
    path = sqlite_url.removeprefix(PATH_PREFIX)
    log = f"{path}-wal"
    async with opened(sqlite_driver(sqlite_url), role="caller") as perdure:
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM journal").fetchone()
        while size_of(log) < 2_000_000:
            await perdure.call("t.none")
        reader.close()
        for _ in range(20):
            await perdure.call("t.none")
        assert size_of(log) < 1_000_000
