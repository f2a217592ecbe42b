"""Nobody changes a stored bit of a process or an instance without an audit seeing it, on both stores."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import psycopg
import pytest

from perdure.app.audit.store_audit import verify_store
from perdure.verbs import Call, Result
from tests.conformance.stores import Raw
from tests.depth import some_cells
from tests.engines.embedded.engine_world import ORIGIN, Handlers, World, opened
from tests.engines.embedded.process_models import line, message, pause, service, user, wait
from tests.store.audit.bit_flips import MEANINGLESS, OWNER, chosen, flipped

TABLES = ("aggregate", "journal", "payload", "parked", "timer", "job", "incident")
LEFT_OUT = MEANINGLESS | {("journal", "xact")}
"""Also the number a server gives to transactions: it orders what is sealed."""
REFUSED = (sqlite3.IntegrityError, psycopg.errors.IntegrityError, psycopg.errors.DataError)


class Patient(Handlers):
    """One verb goes on until it is let go, so that its job is held meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.may_end = asyncio.Event()

    async def plain(self, call: Call) -> Result:
        if call.verb == "t.two":
            await self.may_end.wait()
        return await super().plain(call)


@asynccontextmanager
async def filled(url: str) -> AsyncIterator[World]:
    """Instances that wait for a message, a person, a time, a retry, a worker and help, one that ended."""
    handlers = Patient()
    async with opened(url, handlers) as world:
        await world.deploy(line("waiting", wait("asked", "m"), user("decide"), messages=(message("m", key="k-1"),)))
        await world.deploy(line("sleeping", pause("nap", "PT1H")))
        for verb in ("t.flaky", "t.contract", "t.one", "t.two"):
            await world.deploy(line(verb.replace(".", "-"), service("work", verb)))
        for name in ("sleeping", "t-flaky", "t-contract", "t-one"):
            await world.engine.start(name, ORIGIN, data={"given": 1})
        first = await world.engine.start("waiting", ORIGIN)
        await world.now(first)
        await world.sandbox.publish("m", "k-1", {"page": 1}, message_id="news")
        await world.start("waiting")
        await world.engine.start("t-two", ORIGIN)
        yield world
        handlers.may_end.set()
        await world.sandbox.run_until_idle()


class Cell(NamedTuple):
    """One column of one row, with the whole row to find it again."""

    table: str
    column: str
    row: dict[str, Any]


def cells(raw: Raw, table: str) -> Iterator[Cell]:
    columns = _columns(raw, table)
    for found in raw(f"SELECT {', '.join(columns)} FROM {table}"):
        row = dict(zip(columns, found, strict=True))
        yield from (Cell(table, name, row) for name in columns if (table, name) not in LEFT_OUT)


def _columns(raw: Raw, table: str) -> list[str]:
    if not raw.is_postgres:
        return [str(row[1]) for row in raw(f"PRAGMA table_info({table})")]
    asked = "SELECT column_name FROM information_schema.columns WHERE table_name = ? ORDER BY ordinal_position"
    return [str(name) for (name,) in raw(asked, table)]


def change(raw: Raw, cell: Cell, before: Any, after: Any) -> bool:
    """Write a value into a cell; False when the database itself refuses it."""
    same = "IS NOT DISTINCT FROM ?" if raw.is_postgres else "IS ?"
    row = {**cell.row, cell.column: before}
    names = [name for name in row if (cell.table, name) not in LEFT_OUT]
    where = " AND ".join(f"{name} {same}" for name in names)
    try:
        changed = raw(
            f"UPDATE {cell.table} SET {cell.column} = ? WHERE {where} RETURNING 1",
            after,
            *(row[each] for each in names),
        )
    except REFUSED:
        return False
    assert len(changed) == 1, cell
    return True


def turned(value: Any, number: int) -> Any:
    """The value with the lowest bit of one of its bytes turned over: letters stay letters."""
    new, _ = flipped(value, 8 * (number % 5))
    return new.decode() if isinstance(value, str) and isinstance(new, bytes) else new


@some_cells
@pytest.mark.req("P7", "V30")
async def test_a_changed_bit_in_any_column_of_any_row_of_an_instance_is_found_and_named(
    store_url: str, every: int
) -> None:
    async with filled(store_url) as world:
        assert (await verify_store(world.sandbox, {}, is_dry=True)).findings == []
        with Raw(store_url) as raw:
            kinds = {str(kind) for (kind,) in raw("SELECT DISTINCT kind FROM parked")}
            assert {"message", "task"} <= kinds
            assert {str(kind) for (kind,) in raw("SELECT DISTINCT kind FROM timer")} == {"watch", "retry"}
            for table in TABLES:
                found = list(cells(raw, table))
                assert found, table
                for number, cell in chosen(found, every):
                    await check(world, raw, cell, turned(cell.row[cell.column], number))


async def check(world: World, raw: Raw, cell: Cell, after: Any) -> None:
    before = cell.row[cell.column]
    if not change(raw, cell, before, after):
        return
    report = await verify_store(world.sandbox, {}, is_dry=True)
    owner = OWNER.get(cell.table, "aggregate")
    # A row moved to an id that is none is missed where it was, or found where it is.
    named = {cell.row[owner], after} if cell.column == owner else {cell.row[owner]}
    assert any(finding.id in named for finding in report.findings), (cell, after, report.findings)
    assert change(raw, cell, after, before)
