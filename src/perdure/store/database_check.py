"""The database's own check of its pages and indexes: on a connection of its own that changes nothing.

| store | check | covers |
|---|---|---|
| SQLite | `integrity_check`; the schema is compared with the one this release makes | every page, row and index |
| Postgres | `amcheck`: `bt_index_check` against every row, `verify_heapam` from version 14 on | tables and indexes |
| Postgres without `amcheck` | the extension is tried in a transaction that is rolled back | else a note says so |
"""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import msgspec

from perdure.store.driver_selection import open_driver
from perdure.store.migrations import migrate_sqlite, newest
from perdure.store.sqlite.connection import DATABASE_ERRORS, read_anything, translated

MOST = 100
"""Findings that are told."""


class DatabaseReport(msgspec.Struct, frozen=True):
    """The outcome of the database's own check. `method` is empty where there was none, and `notes` say why."""

    dialect: str
    schema: int
    newest_schema: int
    method: str = ""
    findings: list[str] = []
    notes: list[str] = []


async def check_database(url: str) -> DatabaseReport:
    """Let the database check itself. The schema stays as it is, also where it is older than this release."""
    driver = open_driver(url)
    if driver.dialect == "postgres":
        from perdure.store.postgres.database_check import check_postgres  # noqa: PLC0415  psycopg is loaded where it is used

        return await check_postgres(url)
    return await asyncio.to_thread(_check_sqlite, str(getattr(driver, "path", "")))


def _check_sqlite(path: str) -> DatabaseReport:
    try:
        connection = sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=rw", uri=True, isolation_level=None)
        try:
            return _checked(connection, path)
        finally:
            connection.close()
    except DATABASE_ERRORS as error:
        told = translated(error, path)
        return DatabaseReport("sqlite", 0, newest("sqlite"), "integrity_check", [told.fact])


def _checked(connection: sqlite3.Connection, path: str) -> DatabaseReport:
    read_anything(connection)
    connection.execute("PRAGMA query_only = ON")
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    found = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({MOST})").fetchall()]
    findings = [each for each in found if each != "ok"]
    if version <= newest("sqlite"):
        findings += _schema_findings(connection, version)
    return DatabaseReport("sqlite", version, newest("sqlite"), "integrity_check", findings[:MOST])


def _schema_findings(connection: sqlite3.Connection, version: int) -> list[str]:
    """How the schema differs from the one that the migrations up to its version make."""
    fresh = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate_sqlite(fresh, "", up_to=version)
        expected, actual = _objects(fresh), _objects(connection)
    finally:
        fresh.close()
    changed = sorted(name for name in expected.keys() & actual.keys() if expected[name] != actual[name])
    return [
        *(f"the schema lacks '{name}'" for name in sorted(expected.keys() - actual.keys())),
        *(f"the schema of '{name}' is not what was made" for name in changed),
    ]


def _objects(connection: sqlite3.Connection) -> dict[str, Any]:
    rows = connection.execute("SELECT name, type, tbl_name, sql FROM sqlite_master").fetchall()
    return {str(name): rest for name, *rest in rows}
