"""The platform on a driver of the test's choosing, otherwise as `Perdure.open` puts it together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from perdure import Perdure
from perdure.app.runtime import Role, Runtime
from perdure.journal import Origin
from perdure.sources import SystemSources
from perdure.store.driver_selection import open_driver
from perdure.store.ports import Driver
from perdure.store.postgres.driver import PostgresDriver
from perdure.store.sqlite.connection import Connection, connect
from perdure.store.sqlite.driver import SqliteDriver
from perdure.verbs import HandlerRegistry
from tests.crash.scenarios import Handlers, catalogue

PATH_PREFIX = "sqlite:///"


@asynccontextmanager
async def opened(
    driver: Driver,
    handlers: dict[str, Callable[..., Any]] | None = None,
    role: Role = "worker",
    lease_seconds: float = 15.0,
) -> AsyncIterator[Perdure]:
    known = catalogue()
    registry = HandlerRegistry.collect([], known, handlers or Handlers().bound())
    runtime = Runtime(driver, known, registry, SystemSources(), role=role, lease_seconds=lease_seconds)
    await runtime.start()
    try:
        yield Perdure(runtime, Origin())
    finally:
        await runtime.stop()


def impatient_driver(url: str) -> Driver:
    """A driver that tells its callers of a store that is away after a moment instead of a minute."""
    if url.startswith(PATH_PREFIX):
        return SqliteDriver(url, url.removeprefix(PATH_PREFIX), busy_seconds=0.05)
    return PostgresDriver(url, patience_seconds=0.3)


def sqlite_driver(url: str, connect: Callable[[str], Connection] = connect) -> SqliteDriver:
    return SqliteDriver(url, url.removeprefix(PATH_PREFIX), connect=connect)


def plain_driver(url: str) -> Driver:
    return open_driver(url)
