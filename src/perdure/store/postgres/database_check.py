"""The check that Postgres makes of its own tables and indexes: the functions of the extension amcheck."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import AsyncConnection

from perdure.store.database_check import MOST, DatabaseReport
from perdure.store.migrations import newest
from perdure.store.postgres.connection import connect, place_of, translated
from perdure.store.postgres.schema_migration import schema_of
from perdure.store.queries import load_queries

HEAP_CHECK = 140000
"""The version of the server from which tables can be checked as well."""
NO_AMCHECK = (
    "Postgres has checked nothing itself: the extension amcheck is not installed, and this user cannot install it "
    "({fact}). An administrator installs it with CREATE EXTENSION amcheck."
)
INSTALL = "CREATE EXTENSION amcheck"
CHECK_INDEX = "SELECT bt_index_check(%(oid)s::oid::regclass, true)"
CHECK_TABLE = "SELECT blkno, offnum, msg FROM verify_heapam(%(oid)s::oid::regclass) LIMIT 100"
"""Statements that only a database with the extension understands: no named query can be prepared of them."""
_REFUSED = (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedFile, psycopg.errors.FeatureNotSupported)


async def check_postgres(url: str) -> DatabaseReport:
    """Check every table and index of the schema. Where amcheck is missing, a transaction has it and is rolled back."""
    queries, place = load_queries("postgres"), place_of(url)
    try:
        async with await connect(url, place, queries["prepare_session"]) as connection:
            schema = await schema_of(connection, queries)
            report = DatabaseReport("postgres", schema, newest("postgres"))
            async with connection.transaction(force_rollback=True):
                return await _checked(connection, queries, report)
    except (OSError, psycopg.Error) as error:
        raise translated(error, place) from error


async def _checked(
    connection: AsyncConnection[Any], queries: Mapping[str, str], report: DatabaseReport
) -> DatabaseReport:
    await connection.execute(queries["take_time"])
    if not (await _rows(connection, queries["has_amcheck"]))[0]["installed"]:
        try:
            async with connection.transaction():
                await connection.execute(INSTALL)
        except _REFUSED as error:
            notes = [NO_AMCHECK.format(fact=str(error).strip().splitlines()[0])]
            return DatabaseReport(report.dialect, report.schema, report.newest_schema, notes=notes)
    findings: list[str] = []
    for index in await _rows(connection, queries["checked_indexes"]):
        try:
            async with connection.transaction():
                await connection.execute(CHECK_INDEX, {"oid": index["oid"]})
        except psycopg.Error as error:
            findings.append(f"index '{index['name']}': {str(error).strip().splitlines()[0]}")
    if connection.info.server_version >= HEAP_CHECK:
        for table in await _rows(connection, queries["checked_tables"]):
            rows = await _rows(connection, CHECK_TABLE, {"oid": table["oid"]})
            findings += [f"table '{table['name']}', block {row['blkno']}: {row['msg']}" for row in rows]
    return DatabaseReport(report.dialect, report.schema, report.newest_schema, "amcheck", findings[:MOST])


async def _rows(
    connection: AsyncConnection[Any], query: str, parameters: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    return await (await connection.execute(query, parameters)).fetchall()
