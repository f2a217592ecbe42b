"""Power cuts on a disk that drops unsynced writes: what was acknowledged is still there, and the file is sound."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from perdure.errors import PerdureError
from perdure.store.audit import verify
from perdure.store.sqlite import connection as connections
from perdure.store.sqlite import driver as drivers
from perdure.store.sqlite.connection import Connection
from perdure.store.sqlite.driver import SqliteDriver
from perdure.testing.sandbox import Sandbox
from perdure.testing.virtual_clock import VirtualSources
from tests.crash.scenarios import Handlers, catalogue
from tests.durability.disk import Disk, forgetful_disk, restore
from tests.on_disk import postgres_server, postgres_template, store_folder

__all__ = ["postgres_server", "postgres_template", "store_folder"]

CALLS = 14
CUTS = 90
CHECKPOINT_PAGES = 24


class Acknowledged(NamedTuple):
    id: str
    state: str
    result: Any


class Cut(NamedTuple):
    """The disk after a power cut, and how many acknowledgements had been given by then."""

    operation: int
    files: dict[str, bytes]
    acknowledged: int


class Session:
    """One run of calls on the forgetful disk, cut at chosen operations of the disk."""

    def __init__(self, disk: Disk, at: frozenset[int], seed: int) -> None:
        self.disk = disk
        self.clock = VirtualSources(seed)
        self.acks: list[Acknowledged] = []
        self.cuts: list[Cut] = []
        self._at = at
        self._chance = random.Random(seed)
        disk.on_operation = self._cut

    def _cut(self) -> None:
        if self.disk.operations in self._at:
            self.cuts.append(Cut(self.disk.operations, self.disk.cut(self._chance), len(self.acks)))

    async def run(self, folder: Path, connect: Callable[[str], Connection]) -> None:
        path = str(folder / "store.db")
        driver = SqliteDriver(f"sqlite:///{path}", path, is_threaded=False, connect=connect)
        async with Sandbox.open(
            definitions=catalogue(), handlers=Handlers().bound(), clock=self.clock, driver=driver
        ) as sandbox:
            for number in range(CALLS):
                await self._call(sandbox, number)

    async def _call(self, sandbox: Sandbox, number: int) -> None:
        verb = ("t.none", "t.external", "t.wait", "t.spawn", "t.flaky", "t.wait")[number % 6]
        view = await sandbox.call(verb, idempotency_key=f"k{number}")
        self._acknowledge(view)
        if verb == "t.flaky":
            await sandbox.advance("PT1M")
            view = await sandbox.status(view.id)
        elif number % 6 == 2:
            await sandbox.complete(f"{view.id}:1", {"done": number})
            view = await sandbox.status(view.id)
        elif number % 6 == 5:
            view = await sandbox.cancel(view.id)
        self._acknowledge(view)

    def _acknowledge(self, view: Any) -> None:
        self.acks.append(Acknowledged(view.id, view.state, view.result))


async def sessions(folder: Path, seed: int) -> Session:
    """A first run counts the operations of the disk; the second, the same to the byte, is cut at some of them."""
    chance = random.Random(seed)
    (folder / "counted").mkdir()
    (folder / "cut").mkdir()
    with forgetful_disk() as (disk, connect):
        await Session(disk, frozenset(), seed).run(folder / "counted", connect)
    with forgetful_disk() as (cut_disk, connect):
        at = frozenset(chance.sample(range(1, disk.operations), min(CUTS, disk.operations - 1)))
        session = Session(cut_disk, at, seed)
        await session.run(folder / "cut", connect)
    return session


async def lost(session: Session, cut: Cut, folder: Path) -> list[str]:
    """What is wrong after a cut: nothing, or each thing in words."""
    path = restore(cut.files, folder)
    try:
        with sqlite3.connect(path) as raw:
            found = raw.execute("PRAGMA integrity_check").fetchall()
        raw.close()
    except sqlite3.DatabaseError as error:
        return [f"the file is damaged: {error}"]
    if found != [("ok",)]:
        return [f"integrity_check: {found}"]
    try:
        return await _lost_calls(session, cut, path)
    except PerdureError as error:
        return [str(error)]


async def _lost_calls(session: Session, cut: Cut, path: Path) -> list[str]:
    wrong: list[str] = []
    driver = SqliteDriver(f"sqlite:///{path}", str(path), is_threaded=False)
    async with Sandbox.open(
        definitions=catalogue(), handlers=Handlers().bound(), clock=VirtualSources(9), driver=driver
    ) as sandbox:
        states = {ack.id: ack for ack in session.acks[: cut.acknowledged]}
        for ack in states.values():
            try:
                view = await sandbox.status(ack.id)
            except PerdureError as error:
                wrong.append(f"{ack} is lost: {error}")
                continue
            if ack.state in ("completed", "failed", "cancelled") and (view.state, view.result) != ack[1:]:
                wrong.append(f"{ack} is now {view.state} with {view.result}")
        await sandbox.run_until_idle()
        report = await verify(sandbox.runtime.store, sandbox.runtime.machines, {}, dry=True)
        wrong += [finding.sentence for finding in report.findings]
        if (await sandbox.call("t.none")).state != "completed":
            wrong.append("work does not go on")
    return wrong


@pytest.mark.req("V17")
async def test_acknowledged_commits_survive_power_cuts_that_drop_unsynced_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CHECKPOINT_PAGES", CHECKPOINT_PAGES)
    session = await sessions(tmp_path, seed=7)
    assert len(session.cuts) == CUTS
    assert {cut.acknowledged for cut in session.cuts} > {0, CALLS}
    for cut in session.cuts:
        assert await lost(session, cut, tmp_path / f"after-{cut.operation}") == [], cut.operation


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
async def test_a_store_that_did_not_sync_every_commit_would_be_caught(
    synchronous: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def careless(connection: Connection, path: str, *, is_memory: bool = False) -> None:
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")

    with monkeypatch.context() as careless_store:
        careless_store.setattr(drivers, "make_durable", careless)
        session = await sessions(tmp_path, seed=7)
    found = [await lost(session, cut, tmp_path / f"after-{cut.operation}") for cut in session.cuts]
    assert sum(1 for wrong in found if wrong) > len(session.cuts) // 10
    assert any(
        "is lost" in sentence or "is now" in sentence or "damaged" in sentence for wrong in found for sentence in wrong
    )
