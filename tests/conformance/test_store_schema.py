"""Both dialects hold the same tables, every named query is understood, and every session is durable."""

from __future__ import annotations

import asyncio
import itertools
import json
import sqlite3
from importlib import resources
from pathlib import Path
from typing import Any

import psycopg
import pytest

from perdure.errors import StoreSettingError, StoreUnavailableError
from perdure.store.driver_selection import open_driver
from perdure.store.migrations import migrations, newest, statements
from perdure.store.postgres.binary_format import BIGINT, BYTEA, LOADERS, TEXT
from perdure.store.postgres.connection import check_durable
from perdure.store.postgres.driver import PostgresDriver
from perdure.store.postgres.prepared_statements import load_statements
from perdure.store.queries import load_queries
from perdure.store.sqlite.driver import SqliteDriver
from perdure.store.unit_batch import ORDER
from tests.conformance.stores import Raw, opened, unit_of
from tests.on_disk import postgres_template

__all__ = ["postgres_template"]


LOOK_UPS = ("aggregate_versions", "entity_versions", "taken_starts", "known_messages", "taken_keys", "taken_locks")
TYPES = {"INTEGER": "bigint", "BLOB": "bytea", "TEXT": "text"}


def sqlite_columns(path: str) -> dict[tuple[str, str], str]:
    connection = sqlite3.connect(path)
    found = connection.execute(
        "SELECT m.name, c.name, c.type FROM sqlite_master AS m, pragma_table_info(m.name) AS c "
        "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE 'document_text%'"
    ).fetchall()
    connection.close()
    return {(table, column): TYPES[type] for table, column, type in found}


def postgres_shape(url: str) -> dict[tuple[str, str], str]:
    """Every column with its type and every index and check with its definition."""
    with Raw(url) as raw:
        columns = raw(
            "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'"
        )
        indexes = raw("SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'")
        checks = raw(
            "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE connamespace = 'public'::regnamespace AND conrelid <> 0"
        )
    return {(table, name): shape for table, name, shape in (*columns, *indexes, *checks)}


@pytest.mark.req("P8")
async def test_sqlite_and_postgres_have_the_same_tables_and_columns(sqlite_url: str, postgres_url: str) -> None:
    async with opened(sqlite_url), opened(postgres_url):
        pass
    with Raw(postgres_url) as raw:
        found = raw(
            "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'"
        )
    postgres = {(table, column): type for table, column, type in found}
    # Transactions of several processes become visible out of order; one file has no such thing.
    assert postgres.pop(("journal", "xact")) == "xid8"
    # Words are an index of FTS5 in the one and a column of lexemes in the other.
    assert [postgres.pop(("document_text", each)) for each in ("aggregate", "version", "words")][-1] == "tsvector"
    sqlite = sqlite_columns(sqlite_url.removeprefix("sqlite:///"))
    # Written by the database for whoever inserts, and read by nobody of ours.
    written = ("task_result_queue", "queued_at")
    assert (postgres.pop(written), sqlite.pop(written)) == ("timestamp with time zone", "text")
    assert postgres == sqlite


@pytest.mark.req("P8")
def test_migrations_have_the_same_numbers_and_titles_in_both_dialects() -> None:
    both = [[(each.number, each.title) for each in migrations(dialect)] for dialect in ("sqlite", "postgres")]
    assert both[0] == both[1]
    assert [number for number, _ in both[0]] == list(range(1, newest("sqlite") + 1))


@pytest.mark.req("P8")
async def test_a_schema_opened_is_the_schema_its_migrations_make(postgres_server: Any, postgres_url: str) -> None:
    by_hand = postgres_server.create_database()
    with Raw(by_hand) as raw:
        for migration in migrations("postgres"):
            for statement in statements(migration.script):
                raw(statement)
    async with opened(postgres_url):
        pass
    async with opened(postgres_url):
        pass
    assert postgres_shape(postgres_url) == postgres_shape(by_hand)
    postgres_server.drop_database(by_hand)


@pytest.mark.req("P8")
async def test_several_processes_may_open_a_new_store_at_once(store_url: str) -> None:
    async with opened(store_url, 6) as drivers:
        assert await asyncio.gather(*(driver.commit(unit_of(n)) for n, driver in enumerate(drivers))) == [None] * 6


@pytest.mark.req("P8")
async def test_a_schema_from_the_future_is_refused(store_url: str) -> None:
    async with opened(store_url):
        pass
    with Raw(store_url) as raw:
        raw("UPDATE meta SET value = '999' WHERE name = 'schema'" if raw.is_postgres else "PRAGMA user_version = 999")
    with pytest.raises(StoreSettingError, match="its schema is 999"):
        await open_driver(store_url).open()


async def test_every_query_is_understood_by_sqlite(sqlite_url: str) -> None:
    async with opened(sqlite_url):
        pass
    connection = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))
    for name, sql in load_queries("sqlite").items():
        parameters = dict.fromkeys(load_statements()[name].parameters) | _named(sql)
        assert connection.execute(f"EXPLAIN {sql}", parameters).fetchall(), name
    connection.close()


def _named(sql: str) -> dict[str, None]:
    return {word.strip("(),:;"): None for word in sql.replace("(:", " :").split() if word.startswith(":")}


async def test_every_query_is_understood_by_postgres_and_speaks_of_types_we_know(postgres_url: str) -> None:
    async with opened(postgres_url):
        pass
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for name, statement in load_statements().items():
            connection.execute(b"PREPARE " + name.encode() + b" AS " + statement.sql)
            shape = connection.pgconn.describe_prepared(name.encode())
            taken = {shape.param_type(place) for place in range(shape.nparams)}
            assert taken <= ({1001, 1009, 1016} if statement.columns else {BYTEA, BIGINT, TEXT}), name
            assert {shape.ftype(place) for place in range(shape.nfields)} <= LOADERS.keys(), name


def test_every_shared_query_exists_in_both_dialects() -> None:
    assert load_queries("sqlite").keys() <= load_queries("postgres").keys()


def test_every_batch_statement_takes_the_columns_of_its_shared_form() -> None:
    shared, ours = load_queries("sqlite"), load_statements()
    for name in (*ORDER, *LOOK_UPS):
        wanted = [part.strip("(): ,;") for part in shared[name].split(":")[1:]]
        taken = [each.split(")")[0].split(",")[0].strip() for each in wanted]
        if name == "aggregate_versions":
            assert taken.pop() == "version"  # Postgres locks and answers all of them, wherever they are expected
        assert list(ours[name].parameters) == taken, name
        assert len(ours[name].columns) == len(ours[name].parameters)


def test_every_override_says_why_it_differs() -> None:
    for file in (resources.files("perdure.store") / "queries" / "postgres").iterdir():
        lines = file.read_text("utf-8").splitlines()
        for above, line in itertools.pairwise(lines):
            if above.startswith("-- name:"):
                assert line.startswith("-- Differs because "), f"{file.name}: {above}"


async def test_keyed_statements_planned_on_an_empty_database_go_by_their_whole_key(postgres_url: str) -> None:
    async with opened(postgres_url):
        pass
    ours = load_statements()
    keyed = [*LOOK_UPS, *(name for name in ORDER if name.startswith(("remove_", "erase_", "settle_")))]
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(ours["prepare_session"].sql)
        for name in (*keyed, "load_aggregates", "find_tokens_of"):
            connection.execute(b"PREPARE " + name.encode() + b" AS " + ours[name].sql)
            nulls = ", ".join(["NULL"] * len(ours[name].parameters))
            (plan,) = connection.execute(f"EXPLAIN (FORMAT JSON) EXECUTE {name}({nulls})").fetchone() or ()
            text = json.dumps(plan)
            assert "Index Cond" in text, name
            assert not any(word in text for word in ("Seq Scan", "Join Filter", "Materialize", "Bitmap")), (name, text)


async def test_a_session_that_would_not_be_durable_is_refused(postgres_url: str) -> None:
    with Raw(postgres_url) as raw:
        ((name,),) = raw("SELECT current_database()")
        raw(f"ALTER DATABASE {name} SET synchronous_commit = off")
    with pytest.raises(StoreSettingError, match="synchronous_commit is 'off'"):
        await open_driver(postgres_url).open()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("fsync", "off"),
        ("full_page_writes", "off"),
        ("synchronous_commit", "local"),
        ("server_encoding", "SQL_ASCII"),
        ("server_version_num", "120022"),
    ],
)
def test_settings_that_could_lose_commits_are_refused(setting: str, value: str) -> None:
    good = {
        "fsync": "on", "full_page_writes": "on", "synchronous_commit": "remote_apply", "server_encoding": "UTF8",
        "server_version_num": "130000",
    }  # fmt: skip
    check_durable(good, "place")
    with pytest.raises(StoreSettingError, match=value):
        check_durable({**good, setting: value}, "place")


def test_a_url_names_its_driver(tmp_path: Path) -> None:
    for url, path in (
        ("sqlite:///store.db", "store.db"), ("sqlite:////srv/store.db", "/srv/store.db"), ("sqlite://", ""),
        (str(tmp_path / "x.db"), str(tmp_path / "x.db")),
    ):  # fmt: skip
        driver = open_driver(url)
        assert isinstance(driver, SqliteDriver) and driver.path == path
    for url in ("postgresql://localhost/x", "postgres://localhost/x"):
        assert isinstance(open_driver(url), PostgresDriver)


@pytest.mark.parametrize("url", ["", "mysql://user:secret@host/db", "store.sqlite", "sqlite:", "sqlite:///"])
def test_a_url_of_another_kind_is_refused_with_a_hint_and_without_its_secrets(url: str) -> None:
    with pytest.raises(StoreSettingError, match=r"sqlite:///perdure\.db") as caught:
        open_driver(url)
    assert "secret" not in str(caught.value)


async def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with pytest.raises(StoreUnavailableError, match=r"postgresql://127\.0\.0\.1:1/") as caught:
        await open_driver("postgresql://user:secret@127.0.0.1:1/nothing").open()
    assert "secret" not in str(caught.value)


@pytest.mark.req("P8")
async def test_a_release_that_takes_changes_for_damage_cannot_read_them(store_url: str) -> None:
    """It may have had the store open when the schema was brought up to date, and reads by the name it knows."""
    async with opened(store_url):
        with Raw(store_url) as raw, pytest.raises((sqlite3.OperationalError, psycopg.ProgrammingError), match="data"):
            raw("SELECT data FROM payload")
