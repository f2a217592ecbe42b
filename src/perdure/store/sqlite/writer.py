"""Commits batches of units on one connection: the gate under BEGIN IMMEDIATE, then set-based writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from time import sleep
from typing import Any

from perdure.errors import FencedError
from perdure.kernel.ports import Conflict, Unit
from perdure.sources import Micros
from perdure.store.commit_conflicts import Claims, Standing, claims_of, judge, news_of, passing
from perdure.store.migrations import outgrown
from perdure.store.queries import expand
from perdure.store.sqlite.connection import Connection
from perdure.store.sqlite.store_file import StoreFile
from perdure.store.unit_batch import batch_of

CHUNK_SIZES = (64, 32, 16, 8, 4, 2, 1)
"""Rows per statement: few sizes, so that prepared statements are found again."""

BLOB = bytearray()
"""The driver binds a bytearray as it is; of bytes it asks every time whether somebody wants to adapt them."""

ENDED_AT = 5
"""The column of an aggregate's row."""


class Writer:
    """Owns the only connection that writes units. Not thread safe: one thread uses it."""

    def __init__(
        self,
        connection: Connection,
        queries: Mapping[str, str],
        clock: Callable[[], Micros],
        file: StoreFile,
        schema: int,
    ) -> None:
        self.connection = connection
        self._queries = queries
        self._clock = clock
        self._file = file
        self._schema = schema
        self._expanded: dict[tuple[str, int], str] = {}
        self.commits = 0

    def commit(self, units: list[Unit], fence: int) -> list[Conflict | None]:
        """Write every unit that passes the gate in the transaction begun; the others are told why not."""
        connection = self.connection
        try:
            self._check_fence(fence)
            claims = claims_of(units)
            standing = self._standing(claims)
            verdicts = judge(units, claims, standing)
            batch = batch_of(passing(units, verdicts), standing.repeated, BLOB)
            for name, rows in batch.items():
                if name == "put_aggregate":
                    self._write_aggregates(rows)
                else:
                    self._write(name, rows)
            connection.execute("COMMIT")
        except BaseException:
            self.rollback()
            raise
        self._file.check()
        self.commits += 1
        return verdicts

    def begin(self, seconds: float = 0.0) -> bool:
        """Take the file's write lock, waiting at most so long; False when it could not be had at once."""
        if self._file.is_lost:
            self._file.check()
        waited, pause = 0.0, 0.0005
        while True:
            try:
                self.connection.execute("BEGIN IMMEDIATE")
                return True
            except Exception as error:
                if "locked" not in str(error) and "busy" not in str(error).lower():
                    raise
                if waited >= seconds:
                    if seconds:
                        raise
                    return False
            sleep(pause)
            waited, pause = waited + pause, min(pause * 1.5, 0.01)

    def rollback(self) -> None:
        try:
            self.connection.execute("ROLLBACK")
        except Exception as error:
            if "no transaction" not in str(error):
                raise

    def check_schema(self) -> None:
        """In the transaction begun: whether the store is still as this release knows it."""
        if self.connection.execute("PRAGMA user_version").fetchone()[0] != self._schema:
            raise outgrown(self._file.path, self._schema)

    def _check_fence(self, fence: int) -> None:
        if not fence:
            self.check_schema()  # who migrates takes all leases away, but there is none here
        elif self.connection.execute(self._queries["check_fence"], {"number": fence}).fetchone() is None:
            raise FencedError(
                "write as", "worker", str(fence), "its lease was taken away",
                "Another process has taken over its work.",
            )  # fmt: skip

    def _standing(self, claims: Claims) -> Standing:
        standing = Standing()
        if claims.is_timed:
            standing.now = self._clock()
        if claims.versions:
            # Only those that stand elsewhere are answered: each row would cost a turn at the interpreter's lock.
            expected = [(BLOB + id, version) for id, version in claims.versions.items()]
            standing.versions = claims.versions | dict(self._look("aggregate_versions", expected))
        if claims.starts:
            standing.starts = {(t, key): bytes(id) for t, key, id in self._look("taken_starts", claims.starts)}
        if claims.messages:
            found = self._look("known_messages", claims.messages)
            standing.messages = {(tenant, message): (answer, id) for tenant, message, answer, id in found}
        if claims.keys:
            standing.keys = {(t, key, name): bytes(id) for t, key, name, id in self._look("taken_keys", claims.keys)}
        if claims.locks:
            standing.locks = {(tenant, key): bytes(id) for tenant, key, id in self._look("taken_locks", claims.locks)}
        if claims.entities:
            standing.entities = {
                (tenant, entity, key): version
                for tenant, entity, key, version in self._look("entity_versions", claims.entities)
            }
        if claims.facts:
            standing.news = news_of(self._look("news_of_facts", claims.facts))
        if claims.silent:
            standing.watched = {tenant for (tenant,) in self._look("watched_tenants", claims.silent)}
        return standing

    def _look(self, name: str, rows: list[Any]) -> list[Any]:
        found: list[Any] = []
        for size, chunk in _chunks(rows):
            found.extend(self.connection.execute(self._sql(name, size), chunk).fetchall())
        return found

    def _write(self, name: str, rows: list[Any]) -> None:
        for size, chunk in _chunks(rows):
            self.connection.execute(self._sql(name, size), chunk)

    def _write_aggregates(self, rows: list[Any]) -> None:
        """What ends is in another status than before; of the rest nearly all are not, which is cheaper to write."""
        ended = [row for row in rows if row[ENDED_AT]]
        if ended:
            self._write("put_aggregate", ended)
            rows = [row for row in rows if not row[ENDED_AT]]
        for size, chunk in _chunks(rows):
            if self.connection.execute(self._sql("put_in_status", size), chunk).rowcount < size:
                self.connection.execute(self._sql("put_aggregate", size), chunk)

    def _sql(self, name: str, size: int) -> str:
        sql = self._expanded.get((name, size))
        if sql is None:
            sql = self._expanded[(name, size)] = expand(self._queries[name], size)
        return sql


def _chunks(rows: list[Any]) -> list[tuple[int, Sequence[Any]]]:
    if len(rows) == 1:
        return [(1, rows[0])]
    chunks: list[tuple[int, Sequence[Any]]] = []
    start, left = 0, len(rows)
    for size in CHUNK_SIZES:
        while left >= size:
            chunks.append((size, [*chain.from_iterable(rows[start : start + size])]))
            start, left = start + size, left - size
    return chunks
