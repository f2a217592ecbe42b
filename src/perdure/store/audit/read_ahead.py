"""Reads a stretch of aggregates at once, and answers the questions about each of them from memory."""

from __future__ import annotations

import asyncio
from typing import Any

from perdure.journal.row_digests import ROW_PREFIX
from perdure.store.audit.audit_reader import Reader, UnreadableError, plain
from perdure.store.ports import Row

BYTES_AT_ONCE = 16_000_000
"""A stretch that holds more is read aggregate by aggregate."""

AT_ONCE = {
    "load_aggregate": "aggregates_between",
    "read_records": "records_between",
    "read_parts": "parts_between",
    "payload_page": "payloads_between",
    "parked_columns": "parked_between",
    "job_columns": "jobs_between",
    "incident_columns": "incidents_between",
    "listed_as": "listed_between",
    "index_columns": "index_between",
    "history_of": "history_between",
    "document_columns": "documents_between",
    "document_blob_columns": "blobs_between",
}


class ReadAhead(Reader):
    """A reader that knows a stretch by heart. Tables are read one after the other, so others may write between:
    what it leads to holds when it fits together, and must be looked at again when it does not."""

    def __init__(self, reader: Reader, known: dict[str, dict[bytes, list[Row]]]) -> None:
        super().__init__(reader.driver)
        self._known = known

    async def fetch(self, name: str, /, **parameters: Any) -> list[Row]:
        known = self._known.get(name)
        if known is None:
            return await super().fetch(name, **parameters)
        # A page after the first is empty: the first held everything.
        if parameters.get("after"):
            return []
        return known.get(parameters["id"] if name == "load_aggregate" else parameters["aggregate"], [])


async def read_ahead(reader: Reader, after: bytes, until: bytes) -> Reader:
    """A reader for a stretch; the plain one when it is too large or holds something that cannot be read."""
    try:
        until = min(until, ROW_PREFIX)  # beyond it stand the records of rows, which have a check of their own
        if await reader.number("stretch_bytes", after=after, until=until) > BYTES_AT_ONCE:
            return reader
        tables = await asyncio.gather(*[_grouped(reader, name, after, until) for name in AT_ONCE])
    except UnreadableError:
        return reader
    return ReadAhead(reader, dict(zip(AT_ONCE, tables, strict=True)))


async def _grouped(reader: Reader, name: str, after: bytes, until: bytes) -> dict[bytes, list[Row]]:
    grouped: dict[bytes, list[Row]] = {}
    for row in map(plain, await reader.fetch(AT_ONCE[name], after=after, until=until)):
        grouped.setdefault(row[0], []).append(row if name == "load_aggregate" else row[1:])
    return grouped
