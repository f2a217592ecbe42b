"""Brings a database's schema up to date: one process migrates, the others wait for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psycopg import AsyncConnection

from perdure.errors import RejectedError, Rejection
from perdure.store.migrations import SCHEMA, pending, statements


async def migrate_postgres(
    connection: AsyncConnection[Any], queries: Mapping[str, str], place: str, creates: bool = True
) -> int:
    """Run what is still to run, in one transaction; returns how many steps ran. It may make the first schema or not."""
    if not creates and not await schema_of(connection, queries):
        hint = "The first call makes it; is --store right?"
        raise RejectedError(Rejection("not_found", "open", "store", place, "the database holds none", hint))
    steps = await _migrate(connection, queries, place)
    await connection.execute(queries["raise_journal_base"])
    return steps


async def _migrate(connection: AsyncConnection[Any], queries: Mapping[str, str], place: str) -> int:
    if not pending("postgres", await schema_of(connection, queries), place):
        return 0
    async with connection.transaction():
        await connection.execute(queries["migration_lock"])
        before = await schema_of(connection, queries)
        steps = pending("postgres", before, place)
        if before and steps:  # first, since commits under way hold what the steps will want
            await connection.execute(queries["fence_everyone"])
        for step in steps:
            for statement in statements(step.script):
                await connection.execute(statement)
            await connection.execute(queries["put_meta"], {"name": SCHEMA, "value": str(step.number)})
    return len(steps)


async def schema_of(connection: AsyncConnection[Any], queries: Mapping[str, str]) -> int:
    """The number of a database's schema; 0 where there is none."""
    found = await (await connection.execute(queries["has_meta"])).fetchone()
    if not found or not next(iter(found.values())):
        return 0
    row = await (await connection.execute(queries["read_meta"], {"name": SCHEMA})).fetchone()
    return int(row["value"]) if row else 0
