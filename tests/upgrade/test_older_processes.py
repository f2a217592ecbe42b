"""A process of an older release that still runs when the schema is brought up to date can write nothing more."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tarfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.errors import FencedError, StoreSettingError
from perdure.store import migrations
from perdure.store.driver_selection import open_driver
from perdure.store.migrations import Migration, newest
from perdure.verbs import load_text
from tests.acceptance.commands import Shell
from tests.conformance.stores import Raw, lone, message, opened, store_over, unit_of
from tests.upgrade.make import RELEASES, packed

HANG_SECONDS = 60
KEPT = sorted(int(file.name.removeprefix("schema-").removesuffix(".tar.xz")) for file in RELEASES.iterdir())
"""The schemas of the releases whose store is kept, packed."""
RUNS_ALONE = Path(__file__).parent / "old_process.py"
WRITES = ("call", "receive", "lease", "beat")


class OldProcess:
    """A running process of an older release."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    async def ask(self, name: str, label: str) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{name} {label}\n".encode())
        await self._process.stdin.drain()
        return await self.answer()

    async def answer(self) -> Any:
        assert self._process.stdout is not None
        async with asyncio.timeout(HANG_SECONDS):
            line = await self._process.stdout.readline()
        assert line, (await self._process.communicate())[1].decode()
        return json.loads(line)


@asynccontextmanager
async def old_process(url: str, schema: int, folder: Path) -> AsyncIterator[OldProcess]:
    with tarfile.open(packed(schema)) as archive:
        archive.extractall(folder, filter="data")
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(RUNS_ALONE), url, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
    )  # fmt: skip
    try:
        running = OldProcess(process)
        assert await running.answer() == schema
        yield running
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


def test_the_store_of_a_release_before_is_kept() -> None:
    assert KEPT and KEPT[-1] < newest("sqlite")


@pytest.mark.req("P8")
@pytest.mark.parametrize("schema", KEPT)
async def test_a_process_of_a_release_before_is_refused_at_its_next_write(
    schema: int, store_url: str, tmp_path: Path
) -> None:
    async with old_process(store_url, schema, tmp_path) as old:
        for name in ("lease", *WRITES[:2]):
            assert await old.ask(name, "before") == "done"
        async with opened(store_url) as (driver,):
            assert [process for _, process in await store_over(driver).outgrown_workers()] != []
            for name in WRITES:
                told = await old.ask(name, "after")
                assert told != "done", name
            with Raw(store_url) as raw:
                assert raw("SELECT count(*) FROM aggregate") == [(1,)]
                assert raw("SELECT count(*) FROM inbox") == [(1,)]
                assert raw("SELECT count(*) FROM worker") == [(1,)]


@pytest.mark.req("P8")
async def test_the_upgrade_names_the_processes_that_are_still_there(tmp_path: Path) -> None:
    shell, release = Shell(tmp_path), tmp_path / "release"
    release.mkdir()
    async with old_process(f"sqlite:///{tmp_path / 'perdure.db'}", KEPT[-1], release) as old:
        assert await old.ask("lease", "before") == "done"
        told = await asyncio.to_thread(shell.json, "db", "upgrade")
        (named,) = told["outgrown"]
        assert named.startswith(f"{old.pid}/")
        shown = await asyncio.to_thread(shell.run, "db", "upgrade")
        assert f"! {named} still runs an older release" in shown.out
    assert (await asyncio.to_thread(shell.json, "db", "upgrade"))["outgrown"] == []


@pytest.fixture
def later_release(monkeypatch: pytest.MonkeyPatch) -> Migration:
    """From here on whoever opens a store knows one schema more, which changes nothing this release would notice."""
    known = migrations.migrations
    later = Migration(newest("sqlite") + 1, "later", "CREATE TABLE later (number BIGINT);\n")
    monkeypatch.setattr(migrations, "migrations", lambda dialect: [*known(dialect), later])
    return later


@pytest.mark.req("P8")
@pytest.mark.parametrize("has_lease", [True, False], ids=["with a lease", "without"])
async def test_a_process_of_this_release_is_refused_at_every_write_by_any_later_schema(
    has_lease: bool, store_url: str, request: pytest.FixtureRequest
) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        if has_lease:
            driver.fence = await store.add_worker("host", "process", 60_000_000)
        assert await driver.commit(unit_of("a")) is None
        extend, close = driver.beat()
        request.getfixturevalue("later_release")
        async with opened(store_url):
            pass
        for unit in (unit_of("b"), unit_of("a", 1), lone(message("m"))):
            with pytest.raises(FencedError if has_lease else StoreSettingError):
                await driver.commit(unit)
        with pytest.raises(StoreSettingError, match="it was upgraded since"):
            await store.add_worker("host", "process", 60_000_000)
        with pytest.raises(StoreSettingError, match="it was upgraded since"):
            await store.add_definition(b"x" * 32, 1, "name", 1, b"body")
        with pytest.raises(StoreSettingError, match="it was upgraded since"):
            await store.serve(1, [1])
        assert await asyncio.to_thread(extend, driver.fence, 1) is None
        close()
        with pytest.raises(StoreSettingError, match="Use the release that wrote it"):
            migrations.pending("sqlite", newest("sqlite") + 1, "place")


@pytest.mark.req("P8")
async def test_a_worker_of_this_release_tells_its_callers_that_the_store_was_upgraded(
    store_url: str, request: pytest.FixtureRequest
) -> None:
    verbs = load_text("verbs: [{name: u.wait, execution: {kind: durable}}]")
    async with Perdure.open(store_url, definitions=verbs) as perdure:
        waiting = await perdure.call("u.wait")
        request.getfixturevalue("later_release")
        driver = open_driver(store_url)
        await driver.open()
        await driver.close()
        for ask in (perdure.call("u.wait"), perdure.complete(f"{waiting.id}:1", {}), perdure.cancel(waiting.id)):
            with pytest.raises(StoreSettingError, match="Stop this process and start the release that upgraded"):
                await ask
        assert (await perdure.status(waiting.id)).state == "parked"
