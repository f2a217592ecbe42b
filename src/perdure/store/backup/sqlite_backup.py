"""Backups of SQLite files: copied page by page from one snapshot, put in place by a rename."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
from pathlib import Path

from perdure.errors import RejectedError, Rejection, StoreSettingError, StoreUnavailableError
from perdure.store.audit.store_verification import Progress
from perdure.store.backup.backup_refusals import (
    EMPTY_BUT_FOR,
    damaged_backup,
    exists_already,
    make_ready,
    not_empty,
    refuse_live,
)
from perdure.store.driver_selection import open_driver
from perdure.store.queries import load_queries
from perdure.store.sqlite.connection import translated
from perdure.store.sqlite.driver import SqliteDriver

PAGES_AT_ONCE = 256
SIDE_FILES = ("-wal", "-shm")


class SqliteFiles:
    """The file behind a url, as something to copy and to replace."""

    def __init__(self, url: str) -> None:
        driver = open_driver(url)
        if not isinstance(driver, SqliteDriver) or driver.is_memory:
            raise StoreSettingError("back up or restore", "store", url, "it is kept in memory only")
        self.url = url
        self.path = Path(driver.path)
        self._queries = load_queries("sqlite")

    async def backup(self, destination: Path, tell: Progress) -> None:
        await asyncio.to_thread(self._backup, destination, tell)

    def _backup(self, destination: Path, tell: Progress) -> None:
        if not self.path.exists():
            raise RejectedError(Rejection("not_found", "back up", "store", self.url, "there is no such file"))
        if destination.exists():
            raise exists_already(destination)
        temporary = _temporary(destination)
        try:
            try:
                copy_database(self.path, temporary, tell)
                self._look_inside(temporary)
            except sqlite3.Error as error:
                raise translated(error, str(self.path)) from error
            publish(temporary, destination)
        finally:
            temporary.unlink(missing_ok=True)

    def _look_inside(self, path: Path) -> None:
        """Open the copy as a restore would, and see that it is one file, whole, and ours."""
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            settle(connection)
            verdict = connection.execute("PRAGMA integrity_check").fetchone()[0]
            if verdict != "ok":
                raise StoreSettingError("back up", "store", self.url, f"its file is damaged ({verdict})")
            if ("aggregate",) not in connection.execute(self._queries["table_names"]).fetchall():
                raise StoreSettingError("use", "store", self.url, "it is a database of something else")
        finally:
            connection.close()

    async def restore(self, source: Path, force: bool, now: int, tell: Progress) -> None:
        is_empty = await asyncio.to_thread(self._check_target, force, now)
        temporary = await asyncio.to_thread(_temporary, self.path)
        try:
            await asyncio.to_thread(self._fetch, source, temporary, tell)
            await make_ready(SqliteDriver(f"sqlite:///{temporary}", str(temporary)), source)
            await asyncio.to_thread(self._settle, temporary)
            await asyncio.to_thread(self._put_in_place, temporary, is_empty)
        finally:
            await asyncio.to_thread(_remove, temporary)

    def _check_target(self, force: bool, now: int) -> bool:
        """Whether nothing is there; raises when something is and may not be replaced."""
        if not self.path.exists() or not self.path.stat().st_size:
            return True
        try:
            is_empty = self._is_empty(now)
        except sqlite3.Error:
            is_empty = False  # whatever that file is, somebody may want it
        if not is_empty and not force:
            raise not_empty(self.url)
        return is_empty

    def _is_empty(self, now: int) -> bool:
        connection = sqlite3.connect(self.path, isolation_level=None)
        try:
            tables = [name for (name,) in connection.execute(self._queries["table_names"])]
            if "worker" in tables:
                refuse_live(connection.execute(self._queries["live_workers"], {"now": now}).fetchall(), self.url)
            kept = [name for name in tables if name not in EMPTY_BUT_FOR]
            return not any(connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() for name in kept)
        finally:
            connection.close()

    def _fetch(self, source: Path, temporary: Path, tell: Progress) -> None:
        if not source.is_file():
            raise RejectedError(Rejection("not_found", "restore", "backup", str(source), "there is no such file"))
        try:
            copy_database(source, temporary, tell)
            self._look_inside(temporary)
        except (sqlite3.Error, StoreSettingError) as error:
            fact = error.fact if isinstance(error, StoreSettingError) else f"it cannot be read ({error})"
            raise damaged_backup(source, fact) from error

    @staticmethod
    def _settle(path: Path) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            settle(connection)
        finally:
            connection.close()

    def _put_in_place(self, temporary: Path, is_empty: bool) -> None:
        if not self.path.exists():
            self._remove_side_files()
            publish(temporary, self.path)
            return
        self._release()
        if not is_empty:
            self._set_aside()
        _flush(temporary)
        temporary.replace(self.path)
        _flush(self.path.parent)

    def _release(self) -> None:
        """Fold what lies beside the old file into it: a stale write-ahead log would be played into the new one."""
        connection = sqlite3.connect(self.path, timeout=0, isolation_level=None)
        try:
            settle(connection)
        except sqlite3.OperationalError as error:
            raise StoreUnavailableError(
                "restore into", "store", self.url, f"another process has it open ({error})",
                "Nothing was changed. Stop it and try again.",
            ) from error  # fmt: skip
        except sqlite3.DatabaseError:
            pass  # no database at all: nothing beside it can be folded into it
        finally:
            connection.close()
        self._remove_side_files()

    def _remove_side_files(self) -> None:
        _remove(self.path, SIDE_FILES)

    def _set_aside(self) -> None:
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.replaced-{number}")).exists():
            number += 1
        os.link(self.path, aside)


def copy_database(source: Path, target: Path, tell: Progress) -> None:
    """Copy one snapshot: the open read transaction keeps it still, so writers need not wait and nothing starts over."""
    reader = sqlite3.connect(f"{source.resolve().as_uri()}?mode=rw", uri=True, isolation_level=None)
    try:
        reader.execute("BEGIN")
        reader.execute("PRAGMA schema_version").fetchone()
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        writer = sqlite3.connect(target, isolation_level=None)
        try:
            reader.backup(
                writer, pages=PAGES_AT_ONCE, sleep=0,
                progress=lambda status, left, total: tell("pages", total - left, total),
            )  # fmt: skip
        finally:
            writer.close()
    finally:
        reader.close()


def settle(connection: sqlite3.Connection) -> None:
    """Make the file complete by itself; fails while anybody else has it open."""
    mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
    if mode != "delete":
        raise sqlite3.OperationalError(f"its journal stays '{mode}'")


def publish(temporary: Path, destination: Path) -> None:
    """Give a finished file its name, once it is on disk, and only if nobody has that name."""
    _flush(temporary)
    try:
        os.link(temporary, destination)
    except FileExistsError:
        raise exists_already(destination) from None
    temporary.unlink()
    _flush(destination.parent)


def _temporary(path: Path) -> Path:
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise StoreUnavailableError("write to", "folder", str(path.parent), str(error.strerror)) from error
    os.close(handle)
    return Path(name)


def _remove(path: Path, suffixes: tuple[str, ...] = ("", *SIDE_FILES)) -> None:
    for suffix in suffixes:
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
