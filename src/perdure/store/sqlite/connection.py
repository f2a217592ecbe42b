"""Connections to one SQLite file, durable or refused."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from perdure.errors import InvariantBroken, PerdureError, StoreFullError, StoreSettingError, StoreUnavailableError
from perdure.store.migrations import newest, outgrown

BUSY_SECONDS = 15.0
CACHED_STATEMENTS = 512
CHECKPOINT_PAGES = 2000
CRAMPED_PAGES = 100
"""After so many pages the log is folded into the file on a disk that was full before."""
LOG_BYTES = 16_000_000
"""What the write-ahead log is cut to when it begins anew: a reader that stayed for long lets it grow."""


OLDER = "an older release asks"
"""How a store that was upgraded begins to refuse a lease."""


class Cursor(Protocol):
    """What is used of a cursor."""

    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...


class Connection(Protocol):
    """What is used of a connection: little enough that a test can put another SQLite behind it."""

    def execute(self, sql: str, parameters: Any = (), /) -> Cursor: ...
    def close(self) -> None: ...


Connect = Callable[[str], Connection]
DATABASE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""Whatever SQLite raises; of a damaged schema it tells in words that need not be text."""


def connect(path: str) -> Connection:
    """A connection in autocommit mode: transactions are begun and ended in so many words."""
    if not path.startswith((":", "file:")):
        _make_private(path)
    try:
        return sqlite3.connect(
            path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False,
            cached_statements=CACHED_STATEMENTS, uri=path.startswith("file:"),
        )  # fmt: skip
    except sqlite3.Error as error:
        raise translated(error, path) from error


def _make_private(path: str) -> None:
    """Make a file that is not there yet, for its owner alone; SQLite gives the files beside it the same mode."""
    with suppress(OSError):  # what cannot be made cannot be opened either, and that says why
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def make_durable(connection: Connection, path: str, *, is_memory: bool = False) -> None:
    """Set what durability needs and read it back: a connection that would not be durable is refused."""
    wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 0}
    if sys.platform == "darwin":
        wanted["fullfsync"] = 1
    if is_memory:
        wanted["journal_mode"] = "memory"
    try:
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = FULL")
        if sys.platform == "darwin":
            connection.execute("PRAGMA fullfsync = ON")
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}").fetchone()
    except DATABASE_ERRORS as error:
        raise translated(error, path) from error
    check_durable(connection, path, wanted)


def check_durable(connection: Connection, path: str, wanted: dict[str, Any]) -> None:
    for name, value in wanted.items():
        actual = connection.execute(f"PRAGMA {name}").fetchone()[0]
        if actual != value:
            raise StoreSettingError(
                "open a durable store at", "file", path, f"PRAGMA {name} is {actual!r}, not {value!r}",
                "Use a local disk that supports WAL; network file systems do not.",
            )  # fmt: skip


def translated(error: Exception, path: str) -> PerdureError:
    """The platform's error for one of SQLite's."""
    text = str(error)
    if is_full(error):
        return StoreFullError(
            "write to", "store", path, f"the disk refused ({text})",
            "Nothing of this commit was written. Free some space and try again.",
        )  # fmt: skip
    if "locked" in text or "busy" in text:
        return StoreUnavailableError(
            "write to", "store", path, "another process kept it locked",
            "Nothing was written; try again, and look for a process that keeps a transaction open.",
        )  # fmt: skip
    if "not a database" in text or "malformed" in text or isinstance(error, UnicodeDecodeError):
        return StoreSettingError(
            "open", "store", path, f"the file is damaged or is no SQLite database ({text})",
            "Restore a backup with `perdure db restore`.",
        )  # fmt: skip
    if OLDER in text:
        return outgrown(path, newest("sqlite"))
    if isinstance(error, sqlite3.DataError | sqlite3.IntegrityError):
        # Trying again cannot help, and whoever insists would insist for ever.
        return InvariantBroken("write to", "store", path, f"it cannot keep this ({text})")
    return StoreUnavailableError("use", "store", path, text, "Check that the folder exists and is writable.")


def is_full(error: Exception) -> bool:
    """Whether the disk refused, most likely for want of room."""
    return "full" in str(error) or "disk I/O" in str(error)


def empty_log(connection: Connection) -> bool:
    """Fold the write-ahead log into the file, cut it to nothing and keep it small from now on.

    False while somebody reads, or there is no room in the file either.
    """
    try:
        connection.execute(f"PRAGMA wal_autocheckpoint = {CRAMPED_PAGES}").fetchone()
        is_busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error:
        return False
    return not is_busy


def read_anything(connection: Connection) -> None:
    """Damaged text is handed on as it is, so that the row's own check can name it."""
    if isinstance(connection, sqlite3.Connection):
        connection.text_factory = _as_it_is


def _as_it_is(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def rows(connection: Connection, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[Any]:
    return connection.execute(sql, parameters).fetchall()
