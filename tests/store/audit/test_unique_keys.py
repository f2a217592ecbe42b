"""Indexes that lie: the audit compares what unique keys protect with the rows themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.store.audit import verify
from perdure.store.audit.unique_keys import KEYS
from perdure.store.queries import load_queries
from tests.conformance.stores import Raw, lone, message, opened, store_over
from tests.durability.platform import opened as platform
from tests.durability.platform import plain_driver

PAGE_SIZE = 4096
INDEX_LEAF = 0x0A


def lie(path: Path, wanted: bytes, other: bytes) -> None:
    """Change what an index of a SQLite file says, and no table."""
    data = bytearray(path.read_bytes())
    changed = 0
    for start in range(0, len(data), PAGE_SIZE):
        page = data[start : start + PAGE_SIZE]
        if page[0] == INDEX_LEAF and wanted in page:
            data[start : start + PAGE_SIZE] = page.replace(wanted, other)
            changed += 1
    assert changed
    path.write_bytes(data)


@pytest.mark.req("P7")
async def test_a_message_that_an_index_hides_is_found_by_the_audit(sqlite_url: str) -> None:
    async with platform(plain_driver(sqlite_url), role="caller") as perdure:
        call = await perdure.call("t.wait")
        assert (await perdure.complete(call.id, {"done": 1}, message_id="message-1")).answer == "applied"
    lie(Path(sqlite_url.removeprefix("sqlite:///")), b"message-1", b"message-7")
    async with platform(plain_driver(sqlite_url), role="caller") as perdure:
        report = await verify(perdure.runtime.store, perdure.runtime.machines, {})
        [told] = [each for each in report.findings if (each.code, each.place) == ("AUD080", "inbox")]
        assert "default/message-1" in told.sentence


@pytest.mark.req("P7")
async def test_a_key_of_a_start_that_an_index_moved_is_found_by_the_audit(sqlite_url: str) -> None:
    async with platform(plain_driver(sqlite_url), role="caller") as perdure:
        for number in range(3):
            await perdure.call("t.wait", idempotency_key=f"start-{number}")
    lie(Path(sqlite_url.removeprefix("sqlite:///")), b"start-1", b"start-9")
    async with platform(plain_driver(sqlite_url), role="caller") as perdure:
        report = await verify(perdure.runtime.store, perdure.runtime.machines, {})
        assert ("AUD080", "idempotency") in {(each.code, each.place) for each in report.findings}


@pytest.mark.req("P7")
async def test_a_row_that_came_past_its_unique_key_is_found_by_the_audit(store_url: str) -> None:
    """An index that was not kept up lets a message in twice; afterwards both stand in the table."""
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        await driver.commit(lone(message("twice")))
        with Raw(store_url) as raw:
            columns = "tenant, message_id, kind, key, received_at, status, answer, aggregate, body, checksum"
            twice = f"INSERT INTO inbox ({columns}) SELECT {columns} FROM inbox"
            if raw.is_postgres:
                raw("UPDATE pg_index SET indisready = false WHERE indexrelid = 'inbox_message'::regclass")
                raw(twice)
                raw("UPDATE pg_index SET indisready = true WHERE indexrelid = 'inbox_message'::regclass")
            else:
                ((made,),) = raw("SELECT sql FROM sqlite_master WHERE name = 'inbox_message'")
                raw("DROP INDEX inbox_message")
                raw(twice)
                raw(made.replace("UNIQUE ", ""))
        report = await verify(store, {}, {})
        assert {(each.code, each.place) for each in report.findings} >= {("AUD080", "inbox")}
        assert any("tenant/twice" in each.sentence for each in report.findings)


@pytest.mark.req("P7")
async def test_whole_indexes_are_no_finding(store_url: str) -> None:
    async with platform(plain_driver(store_url), role="caller") as perdure:
        for number in range(5):
            view = await perdure.call("t.timed", idempotency_key=f"key-{number}")
            if number % 2:
                await perdure.complete(view.id, {"done": 1}, message_id=f"done-{number}")
        await perdure.call("t.store", {"id": "one"})
        report = await verify(perdure.runtime.store, perdure.runtime.machines, {})
        assert report.findings == []


UNGUARDED = {
    "meta", "worker", "serves", "definition", "quarantine", "seal", "cursor", "channel_outbox", "engine_wait",
    "agent_thread", "agent_checkpoint", "agent_write", "agent_breaker",
}  # fmt: skip
"""Tables whose key lets nothing count twice and refuses nothing."""
WORDS = {"document_text_config", "document_text_idx"}
"""Tables of the index of words, which has a check of its own."""


@pytest.mark.req("P7")
async def test_every_table_with_a_unique_key_is_compared(sqlite_url: str) -> None:
    async with opened(sqlite_url):
        with Raw(sqlite_url) as raw:
            tables = [name for (name,) in raw("SELECT name FROM sqlite_master WHERE type = 'table'")]
            unique = {
                table
                for table in tables
                if any(each[2] for each in raw(f"PRAGMA index_list('{table}')")) and not table.startswith("sqlite_")
            }
    assert unique - UNGUARDED - WORDS == set(KEYS.values())
    for dialect in ("sqlite", "postgres"):
        assert {f"astray_{name}" for name in KEYS} <= load_queries(dialect).keys()
