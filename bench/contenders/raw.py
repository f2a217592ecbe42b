"""The raw limit: what the store's own driver does with no product in between."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable

import psycopg

from bench.load import Durability, Load, Sample, latencies, payload_of, require_durability

ROWS_PER_COMMIT = 64


def steps(load: Load) -> Sample:
    """Rows per second: 64 per commit when many run at once, one per commit when one at a time."""
    rows = 1 if load.concurrency == 1 else ROWS_PER_COMMIT
    commit = _sqlite_commit(load) if load.store == "sqlite" else _postgres_commit(load)
    began = time.perf_counter()
    commits = 0
    while time.perf_counter() < began + load.seconds:
        commit(commits * rows, rows)
        commits += 1
    elapsed = time.perf_counter() - began
    return {"steps_per_second": commits * rows / elapsed, "commits_per_second": commits / elapsed}


def signals(load: Load) -> Sample:
    """A signal is at least one row: the limit is the batched rate."""
    return {"signals_per_second": steps(load)["steps_per_second"]}


def one_signal(load: Load) -> Sample:
    """A signal alone is at least one commit."""
    commit = _sqlite_commit(load) if load.store == "sqlite" else _postgres_commit(load)
    seconds = []
    for number in range(load.count):
        began = time.perf_counter()
        commit(number, 1)
        seconds.append(time.perf_counter() - began)
    return latencies(seconds)


def _body(load: Load) -> str:
    return json.dumps(payload_of(load.payload), separators=(",", ":"))


def _sqlite_commit(load: Load) -> Callable[[int, int], None]:
    connection = sqlite3.connect(load.url.removeprefix("sqlite:///"), isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS raw_row (id INTEGER PRIMARY KEY, body TEXT NOT NULL)")
    require_durability("sqlite", sqlite_durability(connection))
    body = _body(load)

    def commit(first: int, rows: int) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO raw_row VALUES (?, ?)", [(first + n, body) for n in range(rows)])
        connection.execute("COMMIT")

    return commit


def _postgres_commit(load: Load) -> Callable[[int, int], None]:
    connection = psycopg.connect(load.url, autocommit=True)
    connection.execute("CREATE TABLE IF NOT EXISTS raw_row (id BIGINT PRIMARY KEY, body TEXT NOT NULL)")
    require_durability("postgres", postgres_durability(connection))
    body = _body(load)
    statement = "INSERT INTO raw_row SELECT * FROM unnest(%b::bigint[], %b::text[])"
    cursor = connection.cursor(binary=True)

    def commit(first: int, rows: int) -> None:
        cursor.execute(statement, (list(range(first, first + rows)), [body] * rows), prepare=True)

    return commit


def sqlite_durability(connection: sqlite3.Connection) -> Durability:
    """The live connection's journal mode and synchronous level."""
    (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
    (synchronous,) = connection.execute("PRAGMA synchronous").fetchone()
    return Durability(str(journal), str(synchronous))


def postgres_durability(connection: psycopg.Connection) -> Durability:
    """The session's fsync and synchronous_commit."""
    fsync = connection.execute("SHOW fsync").fetchone()
    commit = connection.execute("SHOW synchronous_commit").fetchone()
    assert fsync is not None and commit is not None
    return Durability(f"fsync={fsync[0]}", str(commit[0]))
