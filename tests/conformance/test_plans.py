"""Work grows with what is active, never with what is parked: no hot query reads a whole table."""

from __future__ import annotations

import re
import sqlite3

import pytest

from perdure.store.batch import ORDER
from perdure.store.migrations import migrate_sqlite
from perdure.store.queries import expand, load_queries

HOT = (
    *ORDER, "load_aggregate", "aggregate_versions", "taken_starts", "known_messages", "taken_keys",
    "taken_locks", "entity_versions",
    "find_tokens", "read_payload", "due_timers", "list_parked", "list_incidents", "list_dead", "pending_inbox",
    "read_message", "read_idempotency", "find_index", "ended_aggregates", "check_fence", "beat", "read_records",
    "parked_by_definition", "read_entity", "list_entities", "journal_since", "find_waits", "newest_wait", "list_tasks",
    "buffered_messages", "buffered_page", "expired_messages", "bury_message", "early_letters", "list_aggregates",
    "list_aggregates_in", "list_indexed", "count_indexed",
)  # fmt: skip


@pytest.mark.req("X8")
@pytest.mark.parametrize("name", HOT)
def test_a_hot_query_is_a_search_and_never_a_scan(name: str) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate_sqlite(connection, ":memory:")
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    query = load_queries("sqlite")[name]
    if "VALUES (" in query:
        sql = expand(query, 3)
        plan = connection.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * sql.count("?")).fetchall()
    else:
        names = re.findall(r":([a-z_]+)", query)
        plan = connection.execute(f"EXPLAIN QUERY PLAN {query}", dict.fromkeys(names)).fetchall()
    scanned = [step[3] for step in plan if step[3].startswith("SCAN") and step[3].split()[1] in tables]
    assert scanned == []
    connection.close()
