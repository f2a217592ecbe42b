"""Brings a database's schema up to date: one process migrates, the others wait for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psycopg import AsyncConnection

from perdure.store.migrations import pending, statements

SCHEMA = "schema"


async def migrate_postgres(connection: AsyncConnection[Any], queries: Mapping[str, str], place: str) -> int:
    """Run what is still to run, in one transaction; returns how many steps ran."""
    steps = await _migrate(connection, queries, place)
    await connection.execute(queries["raise_journal_base"])
    return steps


async def _migrate(connection: AsyncConnection[Any], queries: Mapping[str, str], place: str) -> int:
    if not pending("postgres", await _version(connection, queries), place):
        return 0
    async with connection.transaction():
        await connection.execute(queries["migration_lock"])
        steps = pending("postgres", await _version(connection, queries), place)
        for step in steps:
            for statement in statements(step.script):
                await connection.execute(statement)
            await connection.execute(queries["put_meta"], {"name": SCHEMA, "value": str(step.number)})
    return len(steps)


async def _version(connection: AsyncConnection[Any], queries: Mapping[str, str]) -> int:
    found = await (await connection.execute(queries["has_meta"])).fetchone()
    if not found or not next(iter(found.values())):
        return 0
    row = await (await connection.execute(queries["read_meta"], {"name": SCHEMA})).fetchone()
    return int(row["value"]) if row else 0
