"""Reads for audits: a row that cannot be read is a finding, a store that is gone is an error."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from perdure.errors import PerdureError
from perdure.store.ports import Driver, Row

PAGE = 500


class UnreadableError(Exception):
    """A query failed although the store answers: what it would have read is damaged."""


class Reader:
    """Named queries of one driver, page by page."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver

    async def fetch(self, name: str, /, **parameters: Any) -> list[Row]:
        try:
            return await self.driver.fetch(name, **parameters)
        except PerdureError as error:
            await self.driver.fetch("schema_version")
            raise UnreadableError(error.fact) from error

    async def number(self, name: str, **parameters: Any) -> int:
        return int((await self.fetch(name, **parameters))[0][0] or 0)

    async def pages(
        self, name: str, after: Any, column: int, most: int = PAGE, **parameters: Any
    ) -> AsyncIterator[Row]:
        """Rows of a query with `:after` and `:most`, in the order of one column."""
        while True:
            rows = await self.fetch(name, after=after, most=most, **parameters)
            for row in rows:
                yield plain(row)
            if len(rows) < most:
                return
            after = plain(rows[-1])[column]


def plain(row: Row) -> Row:
    """A row with every kind of buffer as bytes."""
    return tuple(bytes(value) if isinstance(value, (memoryview, bytearray)) else value for value in row)
