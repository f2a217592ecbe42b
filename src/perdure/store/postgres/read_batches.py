"""Reads of one kind asked for in one turn of the loop, sent as one set-based query."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from perdure.store.ports import Row
from perdure.store.postgres.connection_pool import ConnectionPool
from perdure.store.postgres.pipeline import carrying
from perdure.store.postgres.prepared_statements import Statement

MOST_TOGETHER = 512
Sort = Callable[[list[Row], list[Row]], list[list[Row]]]
"""The rows of each asking, given all askings and all rows found."""

_Asked = tuple[Row, "asyncio.Future[list[Row]]"]


class ReadBatches:
    """One kind of read. What each caller gets is what it would have got alone."""

    def __init__(self, lines: ConnectionPool, statement: Statement, sort: Sort) -> None:
        self._lines = lines
        self._statement = statement
        self._sort = sort
        self._asked: list[_Asked] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, *key: Any) -> list[Row]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[list[Row]] = loop.create_future()
        if not self._asked:
            loop.call_soon(self._flush)
        self._asked.append((key, future))
        return await future

    def _flush(self) -> None:
        asked, self._asked = self._asked, []
        for start in range(0, len(asked), MOST_TOGETHER):
            task = asyncio.get_running_loop().create_task(self._serve(asked[start : start + MOST_TOGETHER]))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, asked: list[_Asked]) -> None:
        try:
            keys = [key for key, _ in asked]
            (rows,) = await self._lines.turn([carrying(self._statement, keys)])
            for (_, future), found in zip(asked, self._sort(keys, rows), strict=True):
                if not future.done():
                    future.set_result(found)
        except Exception as error:
            for _, future in asked:
                if not future.done():
                    future.set_exception(error)

    async def close(self) -> None:
        while self._tasks:
            await asyncio.wait(self._tasks)


def by_first_column(keys: list[Row], rows: list[Row]) -> list[list[Row]]:
    """At most one row for each key: the one whose first column it is."""
    found = {row[0]: row for row in rows}
    return [[found[id]] if id in found else [] for (id,) in keys]


def by_place(keys: list[Row], rows: list[Row]) -> list[list[Row]]:
    """Rows begin with the place, from 1, of the key they belong to."""
    sorted_out: list[list[Row]] = [[] for _ in keys]
    for place, *row in rows:
        sorted_out[place - 1].append(tuple(row))
    return sorted_out
