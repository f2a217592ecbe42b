"""Fresh stores for the runs: an SQLite file each, and one Postgres server with a database each."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path
from typing import Protocol

import psycopg

from perdure.testing.postgres_service import PostgresService


class FreshStores(Protocol):
    """Where runs get their database from, and how it dies under one of them."""

    def create(self) -> str:
        """The url of a store nobody has used."""

    def drop(self, url: str) -> None:
        """Give the disk space back."""

    def kill(self, child: subprocess.Popen[str]) -> None:
        """Kill the database in the middle of the child's work, then the child, and make it usable again."""

    def size(self, url: str) -> int:
        """Bytes on disk: all tables, indexes and journal."""

    def version(self) -> str:
        """The database's version for the report."""

    def close(self) -> None:
        """Remove everything."""


class SqliteFiles:
    """Every run gets its own file in a folder that is removed at the end."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="perdure-bench-"))
        self._numbers = itertools.count()

    def create(self) -> str:
        return f"sqlite:///{self.folder}/run-{next(self._numbers)}.db"

    def drop(self, url: str) -> None:
        file = Path(_path(url))
        for beside in file.parent.glob(f"{file.name}*"):
            # Some builds of SQLite lock a file by a folder beside it.
            shutil.rmtree(beside) if beside.is_dir() else beside.unlink()

    def kill(self, child: subprocess.Popen[str]) -> None:
        """The database is inside the process, so it dies with it."""
        child.kill()
        child.wait(30)

    def size(self, url: str) -> int:
        connection = sqlite3.connect(_path(url))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        connection.close()
        return Path(_path(url)).stat().st_size

    def version(self) -> str:
        return sqlite3.sqlite_version

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class PostgresDatabases:
    """A private server on loopback; the durability of each session is checked by the contender."""

    def __init__(self) -> None:
        self._service = PostgresService()
        self._service.start()

    def create(self) -> str:
        return self._service.create_database()

    def drop(self, url: str) -> None:
        self._service.drop_database(url)

    def kill(self, child: subprocess.Popen[str]) -> None:
        """The server first, so that the child's last commits are really in flight."""
        self._service.kill()
        child.kill()
        child.wait(30)
        self._service.start()

    def size(self, url: str) -> int:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CHECKPOINT")
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        assert row is not None
        return int(row[0])

    def version(self) -> str:
        with psycopg.connect(self._service.start()) as connection:
            row = connection.execute("SHOW server_version").fetchone()
        assert row is not None
        return str(row[0])

    def close(self) -> None:
        self._service.stop()


def _path(url: str) -> str:
    return url.removeprefix("sqlite:///")
