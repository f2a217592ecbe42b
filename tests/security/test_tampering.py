"""Somebody who writes to the database changes, deletes, exchanges and adds rows: the audit finds it in every table."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from tests.conformance.stores import Raw, opened
from tests.security.evidence_store import Evidence, columns_of, evidence, tables_of
from tests.store.audit.test_tampering_processes import turned

pytestmark = pytest.mark.both_stores

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "store-schema.md"
REFUSED = (sqlite3.IntegrityError, psycopg.IntegrityError, psycopg.DataError, psycopg.ProgrammingError)
MANY_ROWS, FEW_ROWS = 5, 2
"""The rows of a table that are changed in turn, at deep and at normal depth."""


class Guard(NamedTuple):
    """The key of a table's rows, the columns nothing is decided by, and where else a finding may stand."""

    key: tuple[str, ...]
    loose: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


GUARDS = {
    "aggregate": Guard(("id",), ("number",), ("journal", "seal", "part", "payload", "parked")),
    "answer": Guard(("tenant", "principal", "key")),
    "channel_outbox": Guard(("tenant", "effect_id"), ("number",)),
    "cursor": Guard(("tenant", "name")),
    "definition": Guard(("hash",)),
    "document": Guard(("aggregate",), ("number",), ("document_text",)),
    "document_blob": Guard(("aggregate",)),
    "entity": Guard(("tenant", "entity", "key")),
    "entity_history": Guard(("tenant", "entity", "key", "version"), (), ("entity",)),
    "idempotency": Guard(("tenant", "key")),
    "inbox": Guard(("tenant", "message_id"), ("number",)),
    "incident": Guard(("aggregate", "step")),
    "index_entry": Guard(("aggregate", "tenant", "verb", "field")),
    "job": Guard(("aggregate", "step")),
    "journal": Guard(("aggregate", "sequence"), ("position", "xact"), ("aggregate", "seal")),
    "meta": Guard(("name",)),
    "parked": Guard(("aggregate", "step", "token"), ("number",)),
    "part": Guard(("aggregate", "number")),
    "payload": Guard(("aggregate", "hash"), ("number",)),
    "quarantine": Guard(("aggregate", "place")),
    "seal": Guard(("number",)),
    "serves": Guard(("worker",)),
    "timer": Guard(("due", "aggregate", "step")),
    "worker": Guard(("number",), ("lease_until", "is_fenced")),
}
OTHERS_REMOVE = frozenset({"channel_outbox"})
"""Tables whose rows others remove once they have read them: that one is gone says nothing."""
Row = dict[str, Any]


class Table:
    """One table under somebody's hands; whatever they do is undone afterwards."""

    def __init__(self, raw: Raw, name: str, tried: int) -> None:
        self.raw, self.name, self.guard, self.tried = raw, name, GUARDS[name], tried
        self.columns = columns_of(raw, name)
        self.rows = [dict(zip(self.columns, row, strict=True)) for row in raw(f"SELECT * FROM {name}")]

    def update(self, row: Row, **values: Any) -> bool:
        assigned = ", ".join(f"{name} = ?" for name in values)
        return self._try(
            f"UPDATE {self.name} SET {assigned} WHERE {self._where()} RETURNING 1", *values.values(), *self._key(row)
        )

    def delete(self, row: Row) -> bool:
        return self._try(f"DELETE FROM {self.name} WHERE {self._where()} RETURNING 1", *self._key(row))

    def insert(self, row: Row) -> bool:
        names = [name for name in row if name not in ("number", "position", "xact") or name in self.guard.key]
        marks = ", ".join("?" * len(names))
        sql = f"INSERT INTO {self.name} ({', '.join(names)}) {self._overriding} VALUES ({marks}) RETURNING 1"
        return self._try(sql, *(row[name] for name in names))

    def undo(self) -> None:
        self.raw(f"DELETE FROM {self.name}")
        marks, names = ", ".join("?" * len(self.columns)), ", ".join(self.columns)
        for row in self.rows:
            self.raw(f"INSERT INTO {self.name} ({names}) {self._overriding} VALUES ({marks})", *row.values())

    @property
    def _overriding(self) -> str:
        return "OVERRIDING SYSTEM VALUE" if self.raw.is_postgres else ""

    def _where(self) -> str:
        return " AND ".join(f"{name} = ?" for name in self._names)

    @property
    def _names(self) -> list[str]:
        """Every column that tells rows apart, also where the key alone does not."""
        return [*self.guard.key, *(["definition"] if self.name == "serves" else [])] + (
            ["value"] if self.name == "index_entry" else ["kind"] if self.name == "timer" else []
        )

    def _key(self, row: Row) -> list[Any]:
        return [row[name] for name in self._names]

    def _try(self, sql: str, *parameters: Any) -> bool:
        """False when the database itself refuses it."""
        try:
            return bool(self.raw(sql, *parameters))
        except REFUSED:
            return False


def changes(table: Table) -> Iterator[tuple[str, Callable[[], bool]]]:
    for number, row in enumerate(table.rows[: table.tried]):
        for column in (each for each in table.columns if each not in table.guard.loose):
            value = row[column]
            after = b"x" if value is None else 1 - value if column.startswith("is_") else turned(value, number)
            yield (
                f"{column} of row {number}",
                lambda row=row, column=column, after=after: table.update(row, **{column: after}),
            )


def deletions(table: Table) -> Iterator[tuple[str, Callable[[], bool]]]:
    for number, row in enumerate(table.rows[-table.tried :]):
        yield f"row {number}", lambda row=row: table.delete(row)


def exchanges(table: Table) -> Iterator[tuple[str, Callable[[], bool]]]:
    names = [each for each in table.columns if each not in (*table.guard.key, *table.guard.loose)]
    for number, (one, other) in enumerate(zip(table.rows, table.rows[1:], strict=False)):
        differing = [name for name in names if one[name] != other[name]]
        if differing and any(one[name] != other[name] for name in table.guard.key):
            yield f"rows {number} and {number + 1}", lambda one=one, other=other: _exchange(table, one, other)


def _exchange(table: Table, one: Row, other: Row) -> bool:
    key = table.guard.key
    taken = {name: value for name, value in one.items() if name not in key}
    given = {name: value for name, value in other.items() if name not in key}
    return (
        table.delete(one)
        and table.delete(other)
        and table.insert({**one, **given})
        and table.insert({**other, **taken})
    )


def insertions(table: Table) -> Iterator[tuple[str, Callable[[], bool]]]:
    for number, row in enumerate(table.rows[: table.tried]):
        for column in table.guard.key:
            added = {**row, column: row[column] + 1000 if isinstance(row[column], int) else turned(row[column], 1)}
            if table.name == "parked":
                added["slot"] = b"another"  # a key that is waited for is taken
            yield f"row {number} under another {column}", lambda added=added: table.insert(added)


ACTS = {"changed": changes, "deleted": deletions, "exchanged": exchanges, "added": insertions}


@pytest.mark.req("P7")
@pytest.mark.both_stores(one_in=4)
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("name", GUARDS)
@pytest.mark.parametrize("rows", [FEW_ROWS, pytest.param(MANY_ROWS, marks=pytest.mark.deep)])
async def test_whatever_is_done_to_a_row_of_any_table_is_found(store_url: str, name: str, act: str, rows: int) -> None:
    async with evidence(store_url) as found:
        assert (await found.verify()).findings == []
        with Raw(store_url) as raw:
            table = Table(raw, name, rows)
            done = 0
            for what, harm in ACTS[act](table):
                if harm():
                    await check(found, table, f"{name}: {act} {what}")
                    done += 1
                table.undo()
            is_alone = len(table.rows) == 1  # SQLite keeps one fact about itself
            assert done or (act == "exchanged" and is_alone), f"nothing could be {act}"


async def check(found: Evidence, table: Table, what: str) -> None:
    report = await found.verify()
    places = {finding.place.split(" ")[0] for finding in report.findings}
    if table.name in OTHERS_REMOVE and " deleted " in what:
        assert report.findings == [], what
        return
    assert places & {table.name, *table.guard.places}, (what, report.findings)


GRAPHS = {"agent_thread", "agent_checkpoint", "agent_write", "agent_breaker"}


@pytest.mark.req("P7")
async def test_every_table_of_the_schema_has_a_guard_that_is_tried_and_documented(store_url: str) -> None:
    async with opened(store_url):
        pass
    with Raw(store_url) as raw:
        tables = tables_of(raw)
    # Others write the queue of task results: the journal guards what counts. What engines away are known by is no fact,
    # nor is how far a graph has come, or when an agent is asked.
    known = {*GUARDS, "document_text", "task_result_queue", "engine_wait", *GRAPHS}
    assert tables == known, "a table without a guard, or a guard without a table"
    guards = PAGE.read_text(encoding="utf-8").split("## What guards each table")[1]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| [^|]*\|$", guards, re.MULTILINE)
    documented = {name for name, guard in rows if len(guard) > 10}
    assert tables <= documented, "say in docs/reference/store-schema.md what guards it"


@pytest.mark.req("P7")
async def test_a_lease_that_was_taken_away_and_is_given_back_is_found(store_url: str) -> None:
    async with evidence(store_url) as found:
        assert await found.world.store.fence_worker(2, 2**62)
        assert (await found.verify()).findings == []
        with Raw(store_url) as raw:
            raw("UPDATE worker SET is_fenced = 0 WHERE number = 2")
        assert {finding.place for finding in (await found.verify()).findings} == {"worker"}


SQLITE_HARM = {
    "changed": "UPDATE document_text SET words = 'other words' WHERE rowid % 1000 = 1",
    "deleted": "DELETE FROM document_text WHERE rowid % 1000 = 1",
    "added": "INSERT INTO document_text (rowid, words) VALUES (1007, 'added words')",
    "added for no document": "INSERT INTO document_text (rowid, words) VALUES (999001, 'added words')",
    "index changed": "UPDATE document_text_data SET block = zeroblob(length(block)) WHERE id > 10",
    "content changed": "UPDATE document_text_content SET c0 = 'other words' WHERE id % 1000 = 1",
}
POSTGRES_HARM = {
    "changed": "UPDATE document_text SET words = 'other'::tsvector WHERE version = 1",
    "deleted": "DELETE FROM document_text WHERE version = 1",
    "added": "INSERT INTO document_text SELECT aggregate, 7, words FROM document_text WHERE version = 1",
    "added for no document": "INSERT INTO document_text VALUES ('x'::bytea, 1, 'other'::tsvector)",
}


@pytest.mark.req("P7")
async def test_whatever_is_done_to_the_words_of_documents_is_found(store_url: str) -> None:
    async with evidence(store_url) as found:
        with Raw(store_url) as raw:
            kept = "document_text" if raw.is_postgres else "document_text_content"
            rows = raw(f"SELECT * FROM {kept}")
            for what, harm in (POSTGRES_HARM if raw.is_postgres else SQLITE_HARM).items():
                raw(harm)
                report = await found.verify()
                assert {each.place for each in report.findings} == {"document_text"}, (what, report.findings)
                raw(f"DELETE FROM {kept}")
                for row in rows:
                    raw(f"INSERT INTO {kept} VALUES ({', '.join('?' * len(row))})", *row)
                if not raw.is_postgres:
                    raw("INSERT INTO document_text (document_text) VALUES ('rebuild')")
                assert (await found.verify()).findings == [], what
