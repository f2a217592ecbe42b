"""The SQLite driver: a writer thread that groups commits, and reads beside it in WAL mode."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from perdure.errors import PerdureError, StoreUnavailableError
from perdure.kernel.ports import Conflict, Told, Unit, Verdict
from perdure.store.migrations import migrate_sqlite
from perdure.store.ports import Row
from perdure.store.queries import load_queries
from perdure.store.sqlite.connection import (
    BUSY_SECONDS,
    Connect,
    Connection,
    connect,
    make_durable,
    read_anything,
    rows,
    translated,
)
from perdure.store.sqlite.writer import Writer
from perdure.store.telling import Waiting, awaited, tell_all
from perdure.work.ports import Beat

MAX_BATCH = 512
WORTH_A_COMMIT = 128
"""So many units are written while others are still being decided, instead of all of them waiting for each other."""
POLL_SECONDS = 0.02
QUICK_SECONDS = 0.002


class SqliteDriver:
    """One file, or memory when the path is empty. Without a thread everything happens in the caller's."""

    dialect = "sqlite"

    def __init__(
        self,
        url: str,
        path: str,
        *,
        is_threaded: bool = True,
        connect: Connect = connect,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        """`busy_seconds`: how long a commit waits for another process before its callers are told."""
        self.url = url
        self.path = path
        self.is_memory = not path
        self.is_threaded = is_threaded and not self.is_memory
        self.fence = 0
        self._connect = connect
        self._busy_seconds = busy_seconds
        self._queries = load_queries("sqlite")
        self._waiting: deque[Waiting] = deque()
        self._is_busy = False
        self._is_flushing = False
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._writing = threading.Lock()
        self._commit_seconds = 0.0
        self._foreign = self._foreign_version = 0
        self._is_closed = True

    @property
    def commits(self) -> int:
        return self._writer.commits

    async def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        connection = self._new_connection()
        try:
            migrate_sqlite(connection, self.path)
            self._writer = Writer(connection, self._queries)
            connection.execute("PRAGMA busy_timeout = 0")  # the writer waits in its own way, and only in its thread
            self._reader = connection if self.is_memory else self._new_connection()
            read_anything(self._reader)
        except BaseException as error:
            connection.close()
            if isinstance(error, sqlite3.Error):
                raise translated(error, self.path) from error
            raise
        self._count_foreign()
        self._is_closed = False
        if self.is_threaded:
            self._thread = threading.Thread(target=self._work, name="perdure-writer", daemon=True)
            self._thread.start()

    def _new_connection(self) -> Connection:
        connection = self._connect(self.path or ":memory:")
        try:
            make_durable(connection, self.path or ":memory:", is_memory=self.is_memory)
        except BaseException:
            connection.close()
            raise
        return connection

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        if self._thread is not None:
            self._tasks.put(None)
            await asyncio.to_thread(self._thread.join)
        waiting = self._take(len(self._waiting))
        tell_all(self._loop, waiting, [_closed(self.url)] * len(waiting))
        if not self.is_memory:
            self._reader.close()
        self._writer.connection.close()

    async def fetch(self, name: str, /, **parameters: Any) -> list[Row]:
        if self._is_closed:
            raise _closed(self.url)
        try:
            return rows(self._reader, self._queries[name], parameters)
        except sqlite3.Error as error:
            raise translated(error, self.path) from error

    async def write(self, name: str, /, **parameters: Any) -> list[Row]:
        return (await self.write_all([(name, parameters)]))[0]

    async def write_all(self, statements: list[tuple[str, dict[str, Any]]]) -> list[list[Row]]:
        found: list[list[Row]] = await self._on_writer(lambda: self._write_all(statements))
        return found

    def _write_all(self, statements: list[tuple[str, dict[str, Any]]]) -> list[list[Row]]:
        connection = self._writer.connection
        self._writer.begin(self._busy_seconds)
        try:
            found = [rows(connection, self._queries[name], parameters) for name, parameters in statements]
            connection.execute("COMMIT")
        except BaseException:
            self._writer.rollback()
            raise
        return found

    def commit(self, unit: Unit) -> asyncio.Future[Conflict | None]:
        return awaited(self.submit, unit)

    def submit(self, unit: Unit, told: Told) -> None:
        if self._is_closed:
            self._loop.call_soon(told, _closed(self.url))
            return
        self._waiting.append((unit, told))
        if self._is_busy:
            return
        if self.is_threaded and len(self._waiting) >= WORTH_A_COMMIT:
            self._flush()
        elif not self._is_flushing:
            self._is_flushing = True
            # Everyone who is ready in this turn of the loop gets into the same commit.
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._is_flushing = False
        if self._is_busy or not self._waiting or self._is_closed:
            return
        batch = self._take(MAX_BATCH)
        self._is_busy = True
        if self.is_threaded and not (len(batch) == 1 and self._commit_here(batch)):
            self._tasks.put(lambda: self._commit_in_thread(batch))
        elif not self.is_threaded:
            self._settle(batch, self._commit([unit for unit, _ in batch]))

    def _take(self, most: int) -> list[Waiting]:
        """Those who wait longest. Only one thread takes at a time, and none is lost of those added meanwhile."""
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]

    def _commit_here(self, batch: list[Waiting]) -> bool:
        """One unit alone is not worth a thread's wake-up, unless the disk is slow or someone else is writing."""
        if self._commit_seconds > QUICK_SECONDS or not self._writing.acquire(blocking=False):
            return False
        began = self._loop.time()
        try:
            if not self._writer.begin():
                return False
            verdicts = self._commit([batch[0][0]], is_begun=True)
        except sqlite3.Error:
            return False  # the writer's thread meets the same trouble and reports it
        finally:
            self._writing.release()
        self._measure(began)
        self._settle(batch, verdicts)
        return True

    def _measure(self, began: float) -> None:
        self._commit_seconds += (self._loop.time() - began - self._commit_seconds) / 8

    def _commit(self, units: list[Unit], is_begun: bool = False) -> list[Verdict]:
        try:
            if not is_begun:
                self._writer.begin(self._busy_seconds)
            return [*self._writer.commit(units, self.fence)]
        except sqlite3.OperationalError as error:
            return [translated(error, self.path)] * len(units)
        except Exception as error:
            if len(units) == 1 or isinstance(error, PerdureError):
                told = translated(error, self.path) if isinstance(error, sqlite3.Error) else error
                return [told] * len(units)
        # One of them cannot be written at all: alone it fails alone.
        return [verdict for unit in units for verdict in self._commit([unit])]

    def _commit_in_thread(self, batch: list[Waiting]) -> None:
        while batch:
            began = self._loop.time()
            with self._writing:
                verdicts = self._commit([unit for unit, _ in batch])
            self._measure(began)
            following = self._following()
            self._loop.call_soon_threadsafe(self._settle, batch, verdicts, bool(following))
            batch = following

    def _following(self) -> list[Waiting]:
        """What is written at once, while the loop tells those before it: enough of them, and nothing else to do."""
        is_worth_it = len(self._waiting) >= WORTH_A_COMMIT and not self._is_closed and self._tasks.empty()
        return self._take(MAX_BATCH) if is_worth_it else []

    def _settle(self, batch: list[Waiting], verdicts: list[Verdict], is_busy: bool = False) -> None:
        self._is_busy = is_busy
        tell_all(self._loop, batch, verdicts)
        if self._waiting and not self._is_busy and not self._is_flushing:
            self._is_flushing = True
            self._loop.call_soon(self._flush)

    async def _on_writer(self, task: Callable[[], Any]) -> Any:
        if self._is_closed:
            raise _closed(self.url)
        try:
            if not self.is_threaded:
                return task()
            future: asyncio.Future[Any] = self._loop.create_future()
            self._tasks.put(lambda: self._run_in_thread(task, future))
            return await future
        except sqlite3.Error as error:
            raise translated(error, self.path) from error

    def _run_in_thread(self, task: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        try:
            with self._writing:
                result = task()
        except BaseException as error:
            self._loop.call_soon_threadsafe(_fail, future, error)
        else:
            self._loop.call_soon_threadsafe(_succeed, future, result)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()

    def beat(self) -> tuple[Beat, Callable[[], None]]:
        connection = self._writer.connection if self.is_memory else self._new_connection()
        sql = self._queries["beat"]

        def extend(number: int, until: int) -> bool:
            return bool(rows(connection, sql, {"number": number, "lease_until": until}))

        return extend, (lambda: None) if self.is_memory else connection.close

    async def clock_offset(self) -> int:
        return 0

    async def changed(self, seconds: float) -> bool:
        """Noticed by the file's data version, read often and cheaply."""
        return await self._watch_file(seconds, is_own_counted=True)

    async def changed_elsewhere(self, seconds: float) -> bool:
        """The reader sees our own commits as changes; the writer's connection sees those of others alone."""
        return await self._watch_file(seconds, is_own_counted=False)

    async def _watch_file(self, seconds: float, is_own_counted: bool) -> bool:
        if self._is_closed or self.is_memory:
            await asyncio.sleep(seconds)
            return False
        before, others, commits = data_version(self._reader), self._foreign, self.commits
        waited = 0.0
        while waited < seconds and not self._is_closed:
            await asyncio.sleep(POLL_SECONDS)
            waited += POLL_SECONDS
            if self._is_closed:
                break
            if commits == self.commits:  # else it has changed, and the loop need not stop to read that
                if (now := data_version(self._reader)) == before:
                    continue
                before = now
            commits = self.commits
            if is_own_counted or await self._on_writer(self._count_foreign) != others:
                return True
        return self._is_closed

    def _count_foreign(self) -> int:
        """How often others were seen to have written since this was opened."""
        version = data_version(self._writer.connection)
        if version != self._foreign_version:
            self._foreign_version = version
            self._foreign += 1
        return self._foreign

    async def announce(self) -> None:
        return None


def data_version(connection: Connection) -> int:
    """A number that changes whenever another connection commits to the file."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def _closed(url: str) -> StoreUnavailableError:
    return StoreUnavailableError("use", "store", url, "it has been closed")


def _fail(future: asyncio.Future[Any], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


def _succeed(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        future.set_result(result)
