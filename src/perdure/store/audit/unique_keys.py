"""Checks unique keys: every row of a table is the one, and the only one, that its index leads to.

A changed byte in an index harms no row. It hides one from its key, so that a message counts a second time, or puts
one under the key of another, so that an honest retry is refused.
"""

from __future__ import annotations

from perdure.errors import PerdureError
from perdure.store.audit.audit_reader import Reader, UnreadableError, plain
from perdure.store.audit.findings import Report, found
from perdure.store.ports import Row

MOST = 100
"""Rows that are named of one key."""
KEYS = {
    "aggregates": "aggregate", "records": "journal", "calls": "parked", "tokens": "parked", "locks": "parked",
    "messages": "inbox", "starts": "idempotency", "answers": "answer", "entities": "entity",
    "versions": "entity_history", "indexed": "index_entry", "timers": "timer", "jobs": "job",
    "incidents": "incident", "parts": "part", "documents": "document", "blobs": "document_blob",
}  # fmt: skip
"""By the name of its query, the table that a unique key protects."""


async def check_keys(reader: Reader, report: Report) -> None:
    """Compare what unique keys protect with the rows themselves."""
    for name, table in KEYS.items():
        try:
            for row in await _astray(reader, f"astray_{name}"):
                fact = f"table '{table}' has '{plain(row)[0]}', and its key leads to none, to another or to several"
                report.add([found("AUD080", table, fact)])
        except UnreadableError as error:
            report.add([found("AUD025", table, str(error))])


async def _astray(reader: Reader, name: str) -> list[Row]:
    driver = reader.driver
    if driver.dialect != "postgres":
        return await reader.fetch(name, most=MOST)
    try:
        return (await driver.write_all([("take_time", {}), (name, {"most": MOST})]))[1]
    except PerdureError as error:
        await driver.fetch("schema_version")
        raise UnreadableError(error.fact) from error
