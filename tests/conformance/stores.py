"""What the store suites share: opened drivers, units made by hand, and raw SQL on either database."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

import psycopg

from perdure.journal import NO_ROWS, Rows
from perdure.kernel.ports import Attachments, InboxRow, RecordRow, Unit
from perdure.sources import Id, SystemSources
from perdure.store.driver_selection import open_driver
from perdure.store.ports import Driver
from perdure.store.queries import load_queries
from perdure.store.store import Store

TENANT = "tenant"


def id_of(label: object) -> Id:
    return Id(sha256(str(label).encode()).digest()[:16])


def hash_of(data: bytes) -> bytes:
    return sha256(data).digest()


def unit_of(
    label: object,
    expected: int = 0,
    *,
    before: Rows = NO_ROWS,
    after: Rows = NO_ROWS,
    state: bytes = b"state",
    mark: str = "",
    **brought: Any,
) -> Unit:
    """One record on top of `expected`; `mark` tells apart two units that want the same place."""
    body = f"{label}/{expected + 1}/{mark}".encode()
    records = [RecordRow(expected + 1, body, hash_of(body))]
    attachments = [Attachments(**brought)] if brought else []
    return Unit(
        TENANT, id_of(label), "runbook", expected, expected + 1, "executing", 0, state, hash_of(body), records,
        before, after, [], attachments, 1,
    )  # fmt: skip


def tombstone(label: object, expected: int) -> Unit:
    """The unit that erases the data of an aggregate which has ended."""
    unit = unit_of(label, expected, erases=True)
    unit.status = "completed"
    return unit


def message(message_id: str, label: object | None = None, at: int = 1, status: int = 1) -> InboxRow:
    aggregate = None if label is None else id_of(label)
    return InboxRow(TENANT, message_id, "completion", "key", at, status, "applied", aggregate, None)


def lone(inbox: InboxRow) -> Unit:
    """A unit that concerns no aggregate."""
    return Unit(TENANT, None, attachments=[Attachments(inbox=inbox)], at=inbox.received_at)


@asynccontextmanager
async def opened(url: str, count: int = 1) -> AsyncIterator[list[Driver]]:
    drivers = [open_driver(url) for _ in range(count)]
    await asyncio.gather(*(driver.open() for driver in drivers))
    try:
        yield drivers
    finally:
        await asyncio.gather(*(driver.close() for driver in drivers))


def store_over(driver: Driver) -> Store:
    return Store(driver, SystemSources())


def given_clock(driver: Driver, now: int) -> list[int]:
    """Let a store judge by a clock of the test's; the first of the list is what time it is."""
    moments = [now]
    driver.clock = lambda: moments[0]
    return moments


class Raw:
    """Plain SQL beside the drivers, statements separated by what they say: `?` marks a parameter."""

    def __init__(self, url: str) -> None:
        self.is_postgres = url.startswith("postgres")
        self._connection: Any = (
            psycopg.connect(url, autocommit=True)
            if self.is_postgres
            else sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None, timeout=15)
        )

    def __call__(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        cursor = self._connection.execute(sql.replace("?", "%s") if self.is_postgres else sql, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall() if cursor.description else []
        return rows

    def named(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """One of the store's own queries."""
        queries = load_queries("postgres" if self.is_postgres else "sqlite")
        rows: list[tuple[Any, ...]] = self._connection.execute(queries[name], parameters).fetchall()
        return rows

    def begin(self) -> None:
        self("BEGIN" if self.is_postgres else "BEGIN IMMEDIATE")

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()


async def until_blocked(raw: Raw, count: int) -> None:
    """Wait until so many sessions of this Postgres database wait for a lock."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    while raw(query) != [(count,)]:
        await asyncio.to_thread(raw, "SELECT 1")
