"""The Postgres driver: one connection that groups commits, a few that read, two that signal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import AsyncConnection

from perdure.kernel.ports import Conflict, Told, Unit
from perdure.sources import Micros
from perdure.store.commit_callbacks import Waiting, awaited, run_callbacks
from perdure.store.migrations import newest
from perdure.store.ports import Row
from perdure.store.postgres.connection import PATIENCE_SECONDS, closed, connect, place_of, translated
from perdure.store.postgres.connection_pool import ConnectionPool
from perdure.store.postgres.lease_heartbeat import Heartbeat
from perdure.store.postgres.notifications import Notifications
from perdure.store.postgres.pipeline import BEGIN, COMMIT, Pipeline, Request, asking
from perdure.store.postgres.prepared_statements import load_statements
from perdure.store.postgres.read_batches import ReadBatches, by_first_column, by_place
from perdure.store.postgres.schema_migration import migrate_postgres
from perdure.store.postgres.writer import Writer
from perdure.store.queries import load_queries
from perdure.work.ports import Beat

MAX_BATCH = 512


class PostgresDriver:
    """One database. Everything happens in the loop that opened it, heartbeats aside."""

    dialect = "postgres"
    is_threaded = True

    def __init__(self, url: str, *, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self.url = url
        self._patience_seconds = patience_seconds
        self.fence = 0
        self.schema = newest("postgres")
        self.clock: Callable[[], Micros] | None = None
        self._place = place_of(url)
        self._queries = load_queries("postgres")
        self._statements = load_statements()
        self._waiting: list[Waiting] = []
        self._committing: asyncio.Task[None] | None = None
        self._is_flushing = False
        self._is_closed = True

    @property
    def commits(self) -> int:
        return self._writer.commits

    async def open(self, *, creates: bool = True) -> None:
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        self._lines = ConnectionPool(self._new_wire, self._place, self._closing, self._patience_seconds)
        self._writer = Writer(
            self._new_wire, self._statements, self._place, self._closing, self._patience_seconds, self._moment,
            self.schema,
        )  # fmt: skip
        self._signals = Notifications(self._new_connection, self._closing)
        self._loads = ReadBatches(self._lines, self._statements["load_aggregates"], by_first_column)
        self._finds = ReadBatches(self._lines, self._statements["find_tokens_of"], by_place)
        try:
            async with await self._new_connection() as connection:
                await migrate_postgres(connection, self._queries, self._place, creates)
            await self._writer.open()
            await self._signals.open()
        except (OSError, psycopg.Error) as error:
            await self._writer.close()
            raise translated(error, self._place) from error
        self._is_closed = False

    async def _new_connection(self) -> AsyncConnection[Any]:
        return await connect(self.url, self._place, self._queries["prepare_session"])

    async def _new_wire(self) -> Pipeline:
        return Pipeline(await self._new_connection())

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._closing.set()
        if self._committing is not None:
            await asyncio.wait([self._committing])
        waiting, self._waiting = self._waiting, []
        run_callbacks(self._loop, waiting, [closed(self._place)] * len(waiting))
        await self._signals.close()
        await self._loads.close()
        await self._finds.close()
        await self._lines.close()
        await self._writer.close()

    async def fetch(self, name: str, /, **parameters: Any) -> list[Row]:
        self._check_open()
        if name == "load_aggregate":
            return await self._loads.ask(parameters["id"])
        if name == "find_tokens":
            return await self._finds.ask(parameters["tenant"], parameters["key"])
        return (await self._lines.turn([asking(self._statements[name], parameters)]))[0]

    async def write(self, name: str, /, **parameters: Any) -> list[Row]:
        return (await self.write_all([(name, parameters)]))[0]

    async def write_all(self, statements: list[tuple[str, dict[str, Any]]]) -> list[list[Row]]:
        self._check_open()
        guards = [("share_schema", {}), ("hold_schema", {"schema": str(self.schema)})]
        requests = [asking(self._statements[name], parameters) for name, parameters in (*guards, *statements)]
        if len(statements) == 1:  # what is sent at once is one transaction
            return (await self._lines.turn(requests))[2:]
        found = await self._lines.turn([Request(BEGIN, []), *requests, Request(COMMIT, [])])
        return found[3:-1]

    def commit(self, unit: Unit) -> asyncio.Future[Conflict | None]:
        return awaited(self.submit, unit)

    def submit(self, unit: Unit, told: Told) -> None:
        if self._is_closed:
            self._loop.call_soon(told, closed(self._place))
            return
        self._waiting.append((unit, told))
        self._flush_soon()

    def _flush_soon(self) -> None:
        if not self._is_flushing and self._committing is None and self._waiting:
            self._is_flushing = True
            # Everyone who is ready in this turn of the loop gets into the same commit.
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._is_flushing = False
        if self._is_closed or not self._waiting:
            return
        batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
        self._committing = self._loop.create_task(self._commit(batch))

    async def _commit(self, batch: list[Waiting]) -> None:
        try:
            verdicts = await self._writer.commit([unit for unit, _ in batch], self.fence)
        except BaseException as error:
            run_callbacks(self._loop, batch, [error] * len(batch))
            raise
        finally:
            self._committing = None
            self._flush_soon()
        run_callbacks(self._loop, batch, verdicts)

    def beat(self) -> tuple[Beat, Callable[[], None]]:
        queries = self._queries
        heartbeat = Heartbeat(self.url, self._place, queries["prepare_session"], queries["beat"], self._moment)
        return heartbeat.extend, heartbeat.close

    def _moment(self) -> Micros | None:
        return self.clock() if self.clock is not None else None

    async def read_clock(self) -> Micros:
        ((server,),) = await self.fetch("server_clock", now=None)
        return int(server)

    async def changed(self, seconds: float) -> bool:
        self._check_open()
        return await self._signals.changed(seconds)

    async def changed_elsewhere(self, seconds: float) -> bool:
        return await self.changed(seconds)  # what this process announces it hears, too

    async def announce(self) -> None:
        self._check_open()
        self._signals.announce()

    def _check_open(self) -> None:
        if self._is_closed:
            raise closed(self._place)
