"""A backup taken under load holds everything acknowledged before it, and only whole backups are restored."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import psycopg
import pytest

from perdure.errors import RejectedError, StoreSettingError, StoreUnavailableError
from perdure.kernel.kernel import Aggregate
from perdure.runbooks.machine import commands as c
from perdure.sources import SECOND, Id, Sources, SystemSources
from perdure.store.backup import backup, check, restore
from tests.store.audit.bit_flips import cells, flip
from tests.store.audit.mixed_store import ORIGIN, World, fill, open_world, path_of, tamper

PARK = c.Park("bench.wait", timeout_seconds=86400.0)


class Later(SystemSources):
    """A clock an hour ahead: every lease has run out."""

    def now(self) -> int:
        return super().now() + 3600 * SECOND


@pytest.fixture
def target_url(store_url: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A second, empty place of the same kind."""
    if store_url.startswith("sqlite"):
        return f"sqlite:///{tmp_path / 'restored.db'}"
    server = request.getfixturevalue("postgres_server")
    url: str = server.create_database()
    request.addfinalizer(lambda: server.drop_database(url))
    return url


@pytest.mark.req("P8")
async def test_a_backup_under_load_holds_what_was_acknowledged_and_parked_work_resumes_on_it(
    store_url: str, target_url: str, tmp_path: Path
) -> None:
    file, is_done = tmp_path / "backup", asyncio.Event()
    async with open_world(store_url) as world:
        await fill(world)
        await world.seal()
        load = [asyncio.ensure_future(keep_calling(world, number, is_done)) for number in range(4)]
        parked = await world.start("before", PARK)
        acknowledged = dict(world.calls)
        await backup(store_url, file)
        is_done.set()
        during = sum(await asyncio.gather(*load))
        assert during > 0
    await restore(file, target_url)
    async with open_world(target_url, world.key) as restored:
        assert (await restored.verify()).findings == []
        for id in acknowledged.values():
            assert await restored.store.load(id) is not None
        await restored.complete(parked, "before")
        assert (await standing(restored, parked)).state.status == "completed"
        await restored.seal()
        assert (await restored.verify(require_sealed=True)).findings == []


async def keep_calling(world: World, number: int, is_done: asyncio.Event) -> int:
    made = 0
    while not is_done.is_set():
        await world.start(f"load {number} {made}", PARK if made % 2 else c.Done(b""))
        made += 1
    return made


async def standing(world: World, id: Id) -> Aggregate:
    return await world.kernel.read(id, ORIGIN)


@pytest.mark.req("P8")
async def test_a_backup_never_overwrites_a_file(store_url: str, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    file.write_bytes(b"precious")
    async with open_world(store_url):
        with pytest.raises(RejectedError, match="there is a file of that name"):
            await backup(store_url, file)
    assert file.read_bytes() == b"precious"
    assert names_in(tmp_path, ".part") == []


@pytest.mark.req("P8")
async def test_a_store_in_use_is_not_restored_over_even_by_force(
    store_url: str, target_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    async with open_world(store_url) as world:
        await world.start("one", PARK)
        await backup(store_url, file)
    async with open_world(target_url):
        for force in (False, True):
            with pytest.raises(RejectedError, match="processes are at work on it"):
                await restore(file, target_url, force)


@pytest.mark.req("P8")
async def test_a_store_that_is_not_empty_is_replaced_by_force_only(
    store_url: str, target_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    async with open_world(store_url) as world:
        one = await world.start("one", PARK)
        await backup(store_url, file)
    async with open_world(target_url) as other:
        two = await other.start("two", PARK)
    with pytest.raises(RejectedError, match="it is not empty"):
        await restore(file, target_url, sources=Later())
    async with open_world(target_url) as other:
        assert await other.store.load(two) is not None
    await restore(file, target_url, force=True, sources=Later())
    async with open_world(target_url) as other:
        assert await other.store.load(one) is not None
        assert await other.store.load(two) is None


@pytest.mark.req("P8")
async def test_a_process_of_the_original_is_fenced_off_on_the_copy(
    store_url: str, target_url: str, tmp_path: Path
) -> None:
    async with open_world(store_url) as world:
        fence = world.store.driver.fence
        await backup(store_url, tmp_path / "backup")
    await restore(tmp_path / "backup", target_url)
    async with open_world(target_url) as copy:
        assert fence not in {worker.number for worker in await copy.store.live_workers()}


@pytest.mark.req("P8")
async def test_a_replaced_file_is_kept_beside_the_new_one(sqlite_url: str, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    async with open_world(sqlite_url) as world:
        await backup(sqlite_url, file)
        one = await world.start("one", PARK)
    await restore(file, sqlite_url, force=True, sources=Later())
    async with open_world(f"{sqlite_url}.replaced-1") as before:
        assert await before.store.load(one) is not None


@pytest.mark.req("P8")
async def test_a_file_another_process_has_open_is_not_replaced(sqlite_url: str, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    async with open_world(sqlite_url) as world:
        await world.start("one", PARK)
        await backup(sqlite_url, file)
        with pytest.raises(StoreUnavailableError, match="another process has it open"):
            await restore(file, sqlite_url, force=True, sources=Later())
        await world.start("two", PARK)
        assert (await world.verify()).findings == []


@pytest.mark.req("P8")
async def test_a_stale_log_beside_a_missing_file_does_not_reach_the_restored_one(
    sqlite_url: str, tmp_path: Path
) -> None:
    file, target = tmp_path / "backup", tmp_path / "target.db"
    async with open_world(sqlite_url) as world:
        one = await world.start("one", PARK)
        await backup(sqlite_url, file)
        beside(target).write_bytes(beside(path_of(sqlite_url)).read_bytes())
    await restore(file, f"sqlite:///{target}")
    assert names_in(tmp_path, "-wal") == []
    async with open_world(f"sqlite:///{target}", world.key) as restored:
        assert await restored.store.load(one) is not None


@pytest.mark.req("P8")
async def test_a_backup_is_one_file_that_reads_by_itself(sqlite_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    async with open_world(sqlite_url) as world:
        await world.start("one", PARK)
        stages: list[tuple[str, int, int]] = []
        await backup(sqlite_url, folder / "one.db", lambda *stage: stages.append(stage))
    assert [each.name for each in folder.iterdir()] == ["one.db"]
    connection = sqlite3.connect(f"file:{folder / 'one.db'}?mode=ro&immutable=1", uri=True)
    assert connection.execute("SELECT count(*) FROM aggregate").fetchone() == (1,)
    connection.close()
    assert stages[-1][1] == stages[-1][2] > 0


@pytest.mark.req("P8")
@pytest.mark.parametrize("damage", ["cut", "nonsense", "foreign", "bit", "missing", "future"])
async def test_a_damaged_backup_is_refused_and_nothing_is_changed(sqlite_url: str, tmp_path: Path, damage: str) -> None:
    file, target = tmp_path / "backup.db", tmp_path / "target.db"
    async with open_world(sqlite_url) as world:
        await fill(world)
        await backup(sqlite_url, file)
    spoil(file, damage)
    with pytest.raises((RejectedError, StoreSettingError)):
        await restore(file, f"sqlite:///{target}")
    assert names_in(tmp_path, "target") == []


def names_in(folder: Path, part: str) -> list[str]:
    return [each.name for each in folder.iterdir() if part in each.name]


def beside(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def spoil(file: Path, damage: str) -> None:
    match damage:
        case "cut":
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        case "nonsense":
            file.write_bytes(b"nonsense" * 1000)
        case "foreign":
            file.unlink()
            tamper(file, ("CREATE TABLE note (text TEXT)", ()))
        case "bit":
            assert flip(file, next(cell for cell in cells(file) if cell.column == "state"), 77)
        case "missing":
            file.unlink()
        case "future":
            tamper(file, ("PRAGMA user_version = 999", ()))


@pytest.mark.req("P8")
async def test_a_postgres_dump_that_was_cut_is_refused_and_nothing_is_restored(
    postgres_url: str, tmp_path: Path
) -> None:
    async with open_world(postgres_url) as world:
        await fill(world)
        await backup(postgres_url, tmp_path / "dump")
    data = (tmp_path / "dump").read_bytes()
    (tmp_path / "dump").write_bytes(data[: len(data) // 2])
    with pytest.raises(RejectedError, match="pg_restore said"):
        await restore(tmp_path / "dump", postgres_url, force=True, sources=Later())
    async with open_world(postgres_url, world.key) as still:
        assert (await still.verify()).findings == []
        assert await still.store.load(world.calls["parked"]) is not None


@pytest.mark.req("P8")
async def test_a_backup_from_a_server_that_had_counted_further_is_sealed_on(
    postgres_url: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server = request.getfixturevalue("postgres_server")
    async with open_world(postgres_url) as world:
        await world.start("one", PARK)
    with psycopg.connect(postgres_url) as connection:
        connection.execute("UPDATE journal SET xact = '70000000'::xid8")
    await backup(postgres_url, tmp_path / "dump")
    url = server.create_database()
    try:
        await restore(tmp_path / "dump", url)
        async with open_world(url, world.key) as restored:
            await restored.seal()
            assert (await restored.verify(require_sealed=True)).seals == 1
            await restored.start("three", PARK)
            await restored.seal()
            report = await restored.verify(require_sealed=True)
            assert (report.findings, report.seals) == ([], 2)
    finally:
        server.drop_database(url)


@pytest.mark.req("P8")
async def test_without_the_programs_of_postgres_the_error_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StoreSettingError, match="no program 'pg_dump' on PATH"):
        await backup("postgresql://nobody@127.0.0.1:1/none", tmp_path / "dump")


@pytest.mark.req("P8")
async def test_the_state_of_a_store_at_a_glance(store_url: str) -> None:
    async with open_world(store_url) as world:
        await fill(world)
        seen = await check(world.store, world.sources.now())
        assert seen["schema"] == seen["newest_schema"]
        assert seen["rows"]["aggregates"] == len(world.calls)
        assert seen["unsealed_records"] == seen["rows"]["records"]
        assert [worker["is_live"] for worker in seen["workers"]] == [True]
        assert not seen["is_timer_overdue"]
        assert (await check(world.store, far_off(world.sources)))["is_timer_overdue"]
        assert seen["durability"].get("synchronous", "2") == "2"
        assert seen["durability"].get("fsync", "on") == "on"


def far_off(sources: Sources) -> int:
    return sources.now() + 10**15


@pytest.mark.req("P8")
async def test_a_backup_does_not_start_over_when_others_write(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perdure.store.backup.sqlite_backup.PAGES_AT_ONCE", 4)
    async with open_world(sqlite_url) as world:
        await fill(world)
        done: list[int] = []

        def write_meanwhile(stage: str, pages: int, total: int) -> None:
            done.append(pages)
            assert len(done) <= total, "it never ends"
            tamper(path_of(sqlite_url), ("INSERT INTO meta VALUES (?, '')", (f"step {len(done)}",)))

        await backup(sqlite_url, tmp_path / "backup", write_meanwhile)
        assert done == sorted(set(done))
        assert len(done) > 2
