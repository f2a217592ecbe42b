"""Work grows with what is active, never with what is parked: no hot query reads a whole table."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3

import psycopg
import pytest

from perdure.store.migrations import migrate_sqlite
from perdure.store.postgres.prepared_statements import load_statements
from perdure.store.queries import expand, load_queries
from perdure.store.unit_batch import ORDER
from tests.conformance.stores import opened

LISTS = (
    "list_runbooks", "list_runbooks_in", "runbook_from", "number_of", "ids_between", "list_ids", "list_ids_in",
    "count_runbooks", "count_started", "count_aggregates_in", "count_ended", "list_indexed_ids", "indexed_field",
    "indexed_before", "incidents_after", "count_incidents_of", "dead_after", "count_dead_of", "count_calls_waiting",
    "oldest_call_waiting", "count_waits_of", "oldest_wait", "feed_since", "tenant_with_ended", "read_answer",
    "has_old_answers", "forget_answers", "read_cursor",
)  # fmt: skip
HOT = (
    *ORDER, "put_in_status", "load_aggregate", "aggregate_versions", "taken_starts", "known_messages", "taken_keys",
    "taken_locks", "entity_versions", "watched_tenants",
    "find_tokens", "read_payload", "due_timers", "list_parked", "list_incidents", "list_dead", "pending_inbox",
    "read_message", "read_idempotency", "find_index", "ended_aggregates", "check_fence", "beat", "read_records",
    "parked_by_definition", "read_entity", "list_entities", "journal_since", "find_waits", "newest_wait", "list_tasks",
    "buffered_messages", "buffered_page", "expired_messages", "bury_message", "early_letters", "list_aggregates",
    "list_aggregates_in", "list_indexed", *LISTS,
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
    # An index of words says so of a look-up by its row's number, too.
    steps = [step[3] for step in plan if not step[3].endswith("VIRTUAL TABLE INDEX 0:=")]
    scanned = [step for step in steps if step.startswith("SCAN") and step.split()[1] in tables]
    assert scanned == []
    if name in LISTS and name != "count_ended":
        assert not [step[3] for step in plan if "TEMP B-TREE" in step[3]], "what is listed comes in its order"
    connection.close()


@pytest.mark.req("T9")
@pytest.mark.parametrize(
    "query, index",
    [
        ("list_documents_of_subject", "document_subject (tenant=? AND subject=?)"),
        ("list_documents_by_correlation", "document_correlation (tenant=? AND correlation=?)"),
    ],
)
def test_a_document_is_found_among_its_own_and_never_by_going_through_all(query: str, index: str) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate_sqlite(connection, ":memory:")
    sql = load_queries("sqlite")[query]
    plan = connection.execute(f"EXPLAIN QUERY PLAN {sql}", dict.fromkeys(re.findall(r":([a-z_]+)", sql))).fetchall()
    assert plan[0][3] == f"SEARCH document USING INDEX {index}"
    connection.close()


def test_lists_come_in_the_order_of_an_index_on_postgres_too(postgres_url: str) -> None:
    """Also for plans that are made while the tables are empty."""
    asyncio.run(_opened(postgres_url))
    ours = load_statements()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(ours["prepare_session"].sql)
        for name in LISTS:
            connection.execute(b"PREPARE " + name.encode() + b" AS " + ours[name].sql)
            nulls = ", ".join(["NULL"] * len(ours[name].parameters))
            (plan,) = connection.execute(f"EXPLAIN (FORMAT JSON) EXECUTE {name}({nulls})").fetchone() or ()
            text = json.dumps(plan)
            assert "Seq Scan" not in text and "Bitmap" not in text, (name, text)
            assert "Sort Key" not in text or name in ("count_ended", "feed_since"), (name, text)


async def _opened(url: str) -> None:
    async with opened(url):
        pass
