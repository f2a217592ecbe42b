"""The database's own check: it finds what no row tells of, and changes nothing."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from perdure.store.database_check import check_database
from perdure.store.migrations import migrations, newest, statements
from tests.conformance.stores import Raw, lone, message, opened
from tests.on_disk import postgres_server, postgres_template, store_folder
from tests.store.audit.test_unique_keys import lie

__all__ = ["postgres_server", "postgres_template", "store_folder"]


def content(url: str) -> bytes:
    return Path(url.removeprefix("sqlite:///")).read_bytes()


@pytest.mark.req("P7")
async def test_a_whole_database_is_checked_and_nothing_is_found(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        await driver.commit(lone(message("one")))
        report = await check_database(store_url)
    assert (report.findings, report.notes, report.schema) == ([], [], report.newest_schema)
    assert report.method == ("amcheck" if report.dialect == "postgres" else "integrity_check")


@pytest.mark.req("P7")
async def test_one_changed_byte_of_an_index_is_found_by_sqlite(sqlite_url: str) -> None:
    async with opened(sqlite_url) as (driver,):
        await driver.commit(lone(message("message-1")))
    lie(Path(sqlite_url.removeprefix("sqlite:///")), b"message-1", b"message-7")
    report = await check_database(sqlite_url)
    assert any("inbox_message" in each for each in report.findings)


@pytest.mark.req("P7")
async def test_a_changed_schema_is_found(sqlite_url: str) -> None:
    async with opened(sqlite_url):
        pass
    with Raw(sqlite_url) as raw:
        raw("DROP INDEX parked_key")
        raw("CREATE INDEX parked_key ON parked (tenant, key, name, slot) WHERE kind = 'call'")
        raw("DROP INDEX inbox_dead")
    report = await check_database(sqlite_url)
    assert report.findings == ["the schema lacks 'inbox_dead'", "the schema of 'parked_key' is not what was made"]


@pytest.mark.req("P7")
async def test_a_row_that_an_index_does_not_know_is_found_by_postgres(postgres_url: str) -> None:
    async with opened(postgres_url) as (driver,):
        with Raw(postgres_url) as raw:
            raw("UPDATE pg_index SET indisready = false WHERE indexrelid = 'inbox_message'::regclass")
        await driver.commit(lone(message("hidden")))
        with Raw(postgres_url) as raw:
            raw("UPDATE pg_index SET indisready = true WHERE indexrelid = 'inbox_message'::regclass")
    report = await check_database(postgres_url)
    assert [each.partition(":")[0] for each in report.findings] == ["index 'inbox_message'"]
    with Raw(postgres_url) as raw:
        assert raw("SELECT count(*) FROM pg_extension WHERE extname = 'amcheck'") == [(0,)]


@pytest.mark.req("P7")
async def test_postgres_says_so_when_amcheck_cannot_be_had(postgres_url: str) -> None:
    async with opened(postgres_url):
        pass
    with Raw(postgres_url) as raw:
        ((name,),) = raw("SELECT current_database()")
        role = f"plain_{name}"
        raw(f"CREATE ROLE {role} LOGIN PASSWORD 'plain'")
        raw(f"GRANT USAGE ON SCHEMA public TO {role}")
        raw(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
    try:
        settings = psycopg.conninfo.conninfo_to_dict(postgres_url)
        url = f"postgresql://{role}:plain@{settings['host']}:{settings['port']}/{name}"
        report = await check_database(url)
        assert (report.method, report.findings) == ("", []) and "CREATE EXTENSION amcheck" in report.notes[0]
    finally:
        with Raw(postgres_url) as raw:
            raw(f"DROP OWNED BY {role}")
            raw(f"DROP ROLE {role}")


@pytest.mark.req("P7", "P8")
async def test_an_older_schema_is_checked_and_left_as_it_is(sqlite_url: str) -> None:
    with Raw(sqlite_url) as raw:
        for step in migrations("sqlite")[:-1]:
            for statement in statements(step.script):
                raw(statement)
            raw(f"PRAGMA user_version = {step.number}")
    before = content(sqlite_url)
    report = await check_database(sqlite_url)
    assert (report.findings, report.schema) == ([], newest("sqlite") - 1)
    assert content(sqlite_url) == before
