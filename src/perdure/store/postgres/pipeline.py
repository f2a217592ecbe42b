"""One connection driven in pipeline mode: many prepared statements in one round trip, few steps for each."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import psycopg
from psycopg import AsyncConnection, pq
from psycopg.errors import error_from_result
from psycopg.pq.abc import PGresult

from perdure.store.postgres.binary_format import rows_of, value
from perdure.store.postgres.connection import Lost
from perdure.store.postgres.prepared_statements import Statement

BINARY = int(pq.Format.BINARY)
_PREPARE, _QUERY = range(2)


class Request(NamedTuple):
    """A statement with its parameters in binary form."""

    statement: Statement
    values: list[bytes | None]


BEGIN = Statement(b"begin", b"BEGIN", (), ())
COMMIT = Statement(b"commit", b"COMMIT", (), ())
ROLLBACK = Statement(b"rollback", b"ROLLBACK", (), ())


def asking(statement: Statement, parameters: dict[str, Any]) -> Request:
    """A statement with single values."""
    return Request(statement, [value(parameters[name]) for name in statement.parameters])


def carrying(statement: Statement, rows: list[Any]) -> Request:
    """A set-based statement with the columns of its rows."""
    columns = zip(*rows, strict=True)
    return Request(statement, [encode(column) for encode, column in zip(statement.columns, columns, strict=True)])


class Pipeline:
    """Not for two callers at once. After `Lost`, or when abandoned in the middle, it is of no more use."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection
        self._pgconn = connection.pgconn
        self._loop = asyncio.get_running_loop()
        self._prepared: set[bytes] = set()
        self._sent: list[tuple[int, bytes]] = []
        self._results: list[PGresult] = []
        self._answer: asyncio.Future[None] | None = None
        self._is_writing = False
        self.is_broken = False
        self._pgconn.nonblocking = 1
        self._pgconn.enter_pipeline_mode()
        self._socket = self._pgconn.socket
        self._loop.add_reader(self._socket, self._readable)
        self._is_watched = True

    async def turn(self, requests: list[Request]) -> list[list[tuple[Any, ...]]]:
        """Send everything, wait once, and give each statement's rows; the first error is raised."""
        return [rows_of(result) for result in await self._exchange(requests)]

    async def close(self) -> None:
        self._break()
        await self._connection.close()

    async def _exchange(self, requests: list[Request]) -> list[PGresult]:
        if self.is_broken:
            raise Lost("the connection is closed")
        assert self._answer is None, "one caller at a time"
        self._sent, self._results = [], []
        self._answer = self._loop.create_future()
        try:
            self._send(requests)
            await self._answer
        except psycopg.OperationalError as error:
            self._break()
            raise Lost(str(error)) from error
        except BaseException:
            self._break()
            raise
        finally:
            self._answer = None
        return self._sorted_out()

    def _send(self, requests: list[Request]) -> None:
        pgconn, prepared, sent = self._pgconn, self._prepared, self._sent
        fresh: set[bytes] = set()
        for statement, values in requests:
            name = statement.name
            if name not in prepared and name not in fresh:
                fresh.add(name)
                pgconn.send_prepare(name, statement.sql)
                sent.append((_PREPARE, name))
            pgconn.send_query_prepared(name, values, [BINARY] * len(values), BINARY)
            sent.append((_QUERY, name))
        pgconn.pipeline_sync()
        self._flush()

    def _flush(self) -> None:
        has_more = bool(self._pgconn.flush())
        if has_more and not self._is_writing:
            self._loop.add_writer(self._socket, self._writable)
        elif self._is_writing and not has_more:
            self._loop.remove_writer(self._socket)
        self._is_writing = has_more

    def _writable(self) -> None:
        try:
            self._flush()
        except psycopg.Error as error:
            self._fail(error)

    def _readable(self) -> None:
        pgconn = self._pgconn
        try:
            pgconn.consume_input()
            while self._answer is not None and not pgconn.is_busy():
                result = pgconn.get_result()
                if result is None:
                    if pgconn.status != pq.ConnStatus.OK:
                        raise psycopg.OperationalError("the server closed the connection")
                    continue
                if result.status == pq.ExecStatus.PIPELINE_SYNC:
                    if not self._answer.done():
                        self._answer.set_result(None)
                    return
                self._results.append(result)
        except psycopg.Error as error:
            self._fail(error)

    def _fail(self, error: psycopg.Error) -> None:
        answer = self._answer
        self._break()
        if answer is not None and not answer.done():
            answer.set_exception(Lost(str(error)))

    def _break(self) -> None:
        self.is_broken = True
        if self._is_watched:
            self._is_watched = False
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)

    def _sorted_out(self) -> list[PGresult]:
        answers: list[PGresult] = []
        failed: PGresult | None = None
        for (kind, name), result in zip(self._sent, self._results, strict=False):
            if result.status == pq.ExecStatus.FATAL_ERROR:
                failed = failed or result
            elif result.status == pq.ExecStatus.PIPELINE_ABORTED:
                continue
            elif kind == _PREPARE:
                self._prepared.add(name)
            else:
                answers.append(result)
        if failed is not None:
            raise error_from_result(failed)
        return answers
