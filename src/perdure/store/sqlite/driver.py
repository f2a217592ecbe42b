"""The SQLite driver: commits are grouped, reads go on beside them in WAL mode.

| a commit | is made |
|---|---|
| of one unit, or of dozens, on a disk that answers at once | in the loop's thread: only one thread runs Python |
| of a few units | in the writer's thread: more gather meanwhile for the next |
| of many units, so that the loop must not stop for it | in the writer's thread |
| on a disk that lets it wait | in the writer's thread: meanwhile the loop goes on |
| while another process writes, or of units one of which cannot be written | in the writer's thread |
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from perdure.errors import PerdureError, StoreFullError, StoreUnavailableError
from perdure.kernel.ports import Conflict, Told, Unit, Verdict
from perdure.sources import Micros, SystemSources, perf_counter, thread_time
from perdure.store.commit_callbacks import Waiting, awaited, run_callbacks
from perdure.store.migrations import migrate_sqlite, newest
from perdure.store.ports import Row
from perdure.store.queries import load_queries
from perdure.store.sqlite.connection import (
    BUSY_SECONDS,
    DATABASE_ERRORS,
    Connect,
    Connection,
    connect,
    empty_log,
    is_full,
    make_durable,
    read_anything,
    rows,
    translated,
)
from perdure.store.sqlite.store_file import StoreFile
from perdure.store.sqlite.writer import Writer
from perdure.work.event_loop import call_in_loop
from perdure.work.ports import Beat

MAX_BATCH = 512
WORTH_A_COMMIT = 128
"""So many units are written while others are still being decided, instead of all of them waiting for each other."""
DOZENS = 32
"""So many units are enough for a commit: there is no need to wait for more of them."""
POLL_SECONDS = 0.02
QUICK_SECONDS = 0.002
"""How long a commit may stand still, waiting for the disk, before a thread of its own is worth waking."""


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
        self.clock: Callable[[], Micros] | None = SystemSources().now
        self.schema = newest("sqlite")
        self._file = StoreFile(path)
        self._connect = connect
        self._busy_seconds = busy_seconds
        self._queries = load_queries("sqlite")
        self._waiting: deque[Waiting] = deque()
        self._is_busy = False
        self._is_flushing = False
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._writing = threading.Lock()
        self._still_seconds = 0.0
        self._is_cramped = False
        self._foreign = self._foreign_version = 0
        self._is_closed = True

    @property
    def commits(self) -> int:
        return self._writer.commits

    async def open(self, *, creates: bool = True) -> None:
        self._loop = asyncio.get_running_loop()
        if not creates:
            self._file.require()
        connection = self._new_connection()
        try:
            migrate_sqlite(connection, self.path)
            self._file.remember()
            self._writer = Writer(connection, self._queries, self._now, self._file, self.schema)
            connection.execute("PRAGMA busy_timeout = 0")  # the writer waits in its own way, and only in its thread
            self._reader = connection if self.is_memory else self._new_connection()
            read_anything(self._reader)
        except BaseException as error:
            connection.close()
            if isinstance(error, DATABASE_ERRORS):
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

    def _now(self) -> Micros:
        assert self.clock is not None
        return self.clock()

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        if self._thread is not None:
            self._tasks.put(None)
            await asyncio.to_thread(self._thread.join)
        waiting = self._take(len(self._waiting))
        run_callbacks(self._loop, waiting, [_closed(self.url)] * len(waiting))
        if not self.is_memory:
            self._reader.close()
        self._writer.connection.close()

    async def fetch(self, name: str, /, **parameters: Any) -> list[Row]:
        if self._is_closed:
            raise _closed(self.url)
        if self._file.is_lost:
            self._file.check()
        try:
            return rows(self._reader, self._queries[name], parameters)
        except DATABASE_ERRORS as error:
            raise translated(error, self.path) from error

    async def write(self, name: str, /, **parameters: Any) -> list[Row]:
        return (await self.write_all([(name, parameters)]))[0]

    async def write_all(self, statements: list[tuple[str, dict[str, Any]]]) -> list[list[Row]]:
        found: list[list[Row]] = await self._on_writer(lambda: self._write_all(statements))
        return found

    def _write_all(self, statements: list[tuple[str, dict[str, Any]]]) -> list[list[Row]]:
        try:
            return self._write_once(statements)
        except sqlite3.OperationalError as error:
            if not is_full(error) or not self._make_room():
                raise
        return self._write_once(statements)

    def _write_once(self, statements: list[tuple[str, dict[str, Any]]]) -> list[list[Row]]:
        connection = self._writer.connection
        self._writer.begin(self._busy_seconds)
        try:
            self._writer.check_schema()
            found = [rows(connection, self._queries[name], parameters) for name, parameters in statements]
            connection.execute("COMMIT")
        except BaseException:
            self._writer.rollback()
            raise
        self._file.check()
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
        try:
            verdicts = self._commit_at_once([unit for unit, _ in batch])
        except BaseException as error:
            # Nobody waits for ever: what was interrupted may be written or not, and whoever asks again finds out.
            self._settle(batch, [error] * len(batch))
            raise
        if verdicts is None:
            self._tasks.put(lambda: self._commit_in_thread(batch))
        else:
            self._settle(batch, verdicts)

    def _commit_at_once(self, units: list[Unit]) -> list[Verdict] | None:
        """In this thread; None, and nothing written, when it is the writer's to do."""
        if not self.is_threaded:
            return self._commit(units)
        return self._commit_here(units) if _is_for_the_loop(len(units)) else None

    def _take(self, most: int) -> list[Waiting]:
        """Those who wait longest. Only one thread takes at a time, and none is lost of those added meanwhile."""
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]

    def _commit_here(self, units: list[Unit]) -> list[Verdict] | None:
        """Unless the disk is slow, someone else is writing, or something in it must be tried apart."""
        if self._is_cramped or self._still_seconds > QUICK_SECONDS or not self._writing.acquire(blocking=False):
            return None
        idle = _idle_seconds()
        try:
            verdicts = self._attempt(units, is_here=True) if self._writer.begin() else None
        except (sqlite3.Error, PerdureError):
            return None  # it could not begin; the writer's thread meets the same trouble and reports it
        finally:
            self._writing.release()
        if verdicts is not None:
            self._measure(idle)
        return verdicts

    def _measure(self, before: float) -> None:
        """What a commit stands still at least, followed fast downwards: a slow disk is slow every time, a busy machine
        is not."""
        more = _idle_seconds() - before - self._still_seconds
        self._still_seconds += more / (32 if more > 0 else 4)

    def _commit(self, units: list[Unit]) -> list[Verdict]:
        if self._is_cramped:
            self._make_room()  # before the log takes what room there is now
        verdicts = self._commit_once(units)
        if verdicts is not None and _is_refused_for_room(verdicts) and self._make_room():
            verdicts = self._commit_once(units)
        if verdicts is not None:
            return verdicts
        return [verdict for unit in units for verdict in self._commit([unit])]

    def _make_room(self) -> bool:
        """On a full disk: fold the log into the file, which is most of what takes up the room."""
        self._is_cramped = not empty_log(self._writer.connection)
        return not self._is_cramped

    def _commit_once(self, units: list[Unit]) -> list[Verdict] | None:
        try:
            self._writer.begin(self._busy_seconds)
        except sqlite3.Error as error:
            return [translated(error, self.path)] * len(units)
        except PerdureError as error:
            return [error] * len(units)
        return self._attempt(units)

    def _attempt(self, units: list[Unit], *, is_here: bool = False) -> list[Verdict] | None:
        """In the transaction begun; None, and nothing written, when one of several cannot be written at all, or when
        the disk is full and the writer's thread is to see whether it is full of our own log."""
        try:
            return [*self._writer.commit(units, self.fence)]
        except sqlite3.OperationalError as error:
            if is_here and is_full(error):
                return None
            return [translated(error, self.path)] * len(units)
        except Exception as error:
            if len(units) > 1 and not isinstance(error, PerdureError):
                return None  # alone it fails alone, and is told why
            told = translated(error, self.path) if isinstance(error, DATABASE_ERRORS) else error
            return [told] * len(units)

    def _commit_in_thread(self, batch: list[Waiting]) -> None:
        while batch:
            with self._writing:
                idle = _idle_seconds()
                try:
                    verdicts = self._commit([unit for unit, _ in batch])
                except BaseException as error:
                    verdicts = [error] * len(batch)
            self._measure(idle)
            following = self._following()
            call_in_loop(self._loop, self._settle, batch, verdicts, bool(following))
            batch = following

    def _following(self) -> list[Waiting]:
        """What is written at once, while the loop tells those before it: enough of them, and nothing else to do."""
        is_worth_it = len(self._waiting) >= WORTH_A_COMMIT and not self._is_closed and self._tasks.empty()
        return self._take(MAX_BATCH) if is_worth_it else []

    def _settle(self, batch: list[Waiting], verdicts: list[Verdict], is_busy: bool = False) -> None:
        self._is_busy = is_busy
        run_callbacks(self._loop, batch, verdicts)
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
        except DATABASE_ERRORS as error:
            raise translated(error, self.path) from error

    def _run_in_thread(self, task: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        try:
            with self._writing:
                result = task()
        except BaseException as error:
            call_in_loop(self._loop, _fail, future, error)
        else:
            call_in_loop(self._loop, _succeed, future, result)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()

    def beat(self) -> tuple[Beat, Callable[[], None]]:
        self._file.check()
        connection = self._writer.connection if self.is_memory else self._new_connection()
        sql = self._queries["beat"]

        def extend(number: int, duration: int) -> int | None:
            self._file.check()
            found = rows(connection, sql, {"number": number, "now": self._now(), "duration": duration})
            return found[0][0] - duration if found else None

        return extend, (lambda: None) if self.is_memory else connection.close

    async def read_clock(self) -> None:
        return None

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
            if is_own_counted or await self._counted_foreign() != others:
                return True
        return self._is_closed

    async def _counted_foreign(self) -> int:
        if not self._writing.acquire(blocking=False):
            return int(await self._on_writer(self._count_foreign))
        try:
            return self._count_foreign()
        except sqlite3.Error as error:
            raise translated(error, self.path) from error
        finally:
            self._writing.release()

    def _count_foreign(self) -> int:
        """How often others were seen to have written since this was opened."""
        version = data_version(self._writer.connection)
        if version != self._foreign_version:
            self._foreign_version = version
            self._foreign += 1
        return self._foreign

    async def announce(self) -> None:
        return None


def _is_refused_for_room(verdicts: list[Verdict]) -> bool:
    """Whether a full disk refused a whole batch."""
    return bool(verdicts) and all(isinstance(verdict, StoreFullError) for verdict in verdicts)


def _idle_seconds() -> float:
    """Seconds this thread has stood still, from some moment on: only the difference of two readings says anything."""
    return perf_counter() - thread_time()


def _is_for_the_loop(count: int) -> bool:
    return count == 1 or DOZENS <= count < WORTH_A_COMMIT


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
