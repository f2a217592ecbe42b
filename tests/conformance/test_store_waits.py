"""Waits of processes: shared keys, rows that go with the wait, kept messages, and lists of instances."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3

import msgspec
import psycopg
import pytest

from perdure.journal import ParkedRow, Rows
from perdure.kernel.ports import DEAD, PENDING, Conflict, InboxRow, Unit
from perdure.store.migrations import migrate_sqlite
from perdure.store.postgres.prepared_statements import load_statements
from perdure.store.queries import load_queries
from tests.conformance.stores import TENANT, Raw, id_of, lone, opened, store_over, unit_of

INDEXES = {
    "find_waits": "parked_wait", "newest_wait": "parked_wait", "list_tasks": "parked_kind",
    "buffered_messages": "inbox_buffered", "buffered_page": "inbox_expiry", "expired_messages": "inbox_expiry",
    "pending_inbox": "inbox_pending", "list_dead": "inbox_dead", "early_letters": "inbox_dead",
    "list_aggregates": "aggregate_kind", "list_aggregates_in": "aggregate_status", "list_parked": "parked_waiting",
    "parked_by_definition": "parked_definition", "find_tokens": "parked_key", "ended_aggregates": "aggregate_ended",
}  # fmt: skip


def wait(
    name: str = "documents", key: str = "case-1", kind: str = "message", step: int = 1, token: int = 1
) -> ParkedRow:
    return ParkedRow(step, token, name, key, 0, 0, kind)


def call(key: str = "case-1", status: int = 0) -> ParkedRow:
    return ParkedRow(1, 1, "documents", key, status, 7)


def instance(label: object, expected: int = 0, status: str = "active", tenant: str = TENANT, **more: object) -> Unit:
    unit = unit_of(label, expected, **more)  # type: ignore[arg-type]
    return msgspec.structs.replace(unit, kind="instance", status=status, tenant=tenant)


def kept(message_id: str, key: str = "case-1", expires_at: int = 100, tenant: str = TENANT) -> InboxRow:
    return InboxRow(
        tenant, message_id, "message", key, 1, PENDING, "buffered", None, b"{}", "documents", expires_at
    )  # fmt: skip


async def test_processes_may_wait_under_one_key_and_a_call_beside_them(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        units = [instance(label, after=Rows((wait(),))) for label in "abc"]
        assert await asyncio.gather(*map(driver.commit, units)) == [None] * 3
        assert await driver.commit(unit_of("call", after=Rows((call(),)))) is None
        assert await driver.commit(unit_of("other", after=Rows((call(),)))) == Conflict("key", "case-1", id_of("call"))
        waits = await store.find_waits(TENANT, "message", "documents", "case-1")
        assert [each.aggregate for each in waits] == [id_of(label) for label in "abc"]
        assert [each.aggregate for each in await store.find_tokens(TENANT, "case-1")] == [id_of("call")]
        assert [each.aggregate for each in await store.parked(TENANT, 0, 9)] == [id_of("call")]


async def test_the_row_of_a_wait_goes_with_the_wait_and_that_of_a_call_stays(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        before = Rows((wait(token=1), wait(token=2), wait(kind="task", key="x:1", token=0)))
        after = Rows((wait(token=2),))
        await driver.commit(instance("a", after=before))
        await driver.commit(instance("a", 1, before=before, after=after))
        assert [each.token for each in await store.find_waits(TENANT, "message", "documents", "case-1")] == [2]
        assert await store.tasks(TENANT) == []
        await driver.commit(instance("a", 2, before=after))
        assert await driver.fetch("parked_of", aggregate=id_of("a")) == []
        waiting, done = Rows((call(),)), Rows((call(status=1),))
        await driver.commit(unit_of("call", after=waiting))
        await driver.commit(unit_of("call", 1, before=waiting, after=done))
        assert [row[4] for row in await driver.fetch("parked_of", aggregate=id_of("call"))] == [1]


async def test_a_wait_that_goes_on_under_another_name_is_found_by_it_alone(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        before, after = Rows((wait("documents"),)), Rows((wait("papers"),))
        await driver.commit(instance("a", after=before))
        await driver.commit(instance("a", 1, before=before, after=after))
        assert await store.find_waits(TENANT, "message", "documents", "case-1") == []
        assert len(await store.find_waits(TENANT, "message", "papers", "case-1")) == 1


async def test_waits_are_found_for_their_tenant_kind_name_and_key_only_page_by_page(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        for label in range(7):
            await driver.commit(instance(label, after=Rows((wait(kind="signal", key=""),))))
        for label, other in enumerate((wait(), wait(kind="signal_start", key=""), wait("other", "", "signal"))):
            await driver.commit(instance(f"other {label}", after=Rows((other,))))
        await driver.commit(instance("stranger", tenant="stranger", after=Rows((wait(kind="signal", key=""),))))
        found, after = [], 0
        while page := await store.find_waits(TENANT, "signal", "documents", after=after, most=3):
            assert len(page) <= 3
            found += [each.aggregate for each in page]
            after = page[-1].number
        assert found == [id_of(label) for label in range(7)]
        assert await store.newest_wait(TENANT, "signal", "documents") == after
        assert await store.newest_wait(TENANT, "signal", "nothing") == 0


async def test_human_tasks_are_listed_page_by_page_for_their_tenant_only(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        for label in range(5):
            await driver.commit(instance(label, after=Rows((wait(kind="task", key=f"{label}:1", token=0), wait()))))
        await driver.commit(instance("x", tenant="stranger", after=Rows((wait(kind="task", token=0),))))
        first = await store.tasks(TENANT, most=3)
        second = await store.tasks(TENANT, first[-1].number, 3)
        assert [each.key for each in first + second] == [f"{label}:1" for label in range(5)]


async def test_kept_messages_are_found_oldest_first_until_their_time_is_over(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        rows = [kept("one"), kept("two", expires_at=50), kept("three"), kept("key", "case-2"), kept("x", tenant="x")]
        for row in rows:
            await driver.commit(msgspec.structs.replace(lone(row), tenant=row.tenant))
        found = await store.buffered_messages(TENANT, "documents", "case-1", 49)
        assert [each.message_id for each in found] == ["one", "two", "three"]
        assert [each[0] for each in await store.buffered_messages(TENANT, "documents", "case-1", 50)] == [
            "one",
            "three",
        ]
        assert await store.pending_messages(0, 9) == [], "who looks for work must not meet what is kept"
        assert [each.message_id for each in await store.expired_messages(50, 9)] == ["two"]
        assert await store.bury_message(TENANT, "two", "expired")
        assert not await store.bury_message(TENANT, "two", "expired"), "once"
        assert await store.expired_messages(99, 9) == []
        assert [(each.message_id, each.answer) for each in await store.dead_letters(TENANT, 9)] == [("two", "expired")]
        assert (await store.message(TENANT, "two")).status == DEAD  # type: ignore[union-attr]


async def test_a_kept_message_that_was_taken_can_neither_expire_nor_be_found(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        await driver.commit(lone(kept("one")))
        await driver.commit(instance("a", settles=(TENANT, "one")))
        assert await store.buffered_messages(TENANT, "documents", "case-1", 1) == []
        assert await store.expired_messages(1000, 9) == []
        assert not await store.bury_message(TENANT, "one", "expired")


async def test_a_walk_over_kept_messages_says_which_are_awaited(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        await driver.commit(instance("a", after=Rows((wait(key="case-2"), wait("other", token=2)))))
        for number in range(6):
            await driver.commit(lone(kept(f"m{number}", f"case-{number % 3}", expires_at=10 + number // 4)))
        found, place = {}, (0, 0)
        while page := await store.buffered_page(*place, 2):
            found.update({each.message_id: each.is_awaited for each in page})
            place = page[-1].expires_at, page[-1].number
        assert found == {f"m{number}": number % 3 == 2 for number in range(6)}


async def test_an_early_answer_for_a_call_is_no_message_for_a_process(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        for message_id, kind in (("answer", "completion"), ("news", "message")):
            await driver.commit(lone(InboxRow(TENANT, message_id, kind, "k", 1, DEAD, "why", None, b"{}")))
        assert await store_over(driver).early_letters(TENANT, "k", 0) == ["answer"]


async def test_instances_are_listed_newest_first_by_status_and_tenant(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        for label in range(6):
            await driver.commit(instance(label, status="active" if label % 2 else "completed"))
        await driver.commit(unit_of("call"))
        await driver.commit(instance("stranger", tenant="stranger"))
        newest = sorted((id_of(label) for label in range(6)), reverse=True)
        first = await store.aggregates(TENANT, "instance", most=4)
        second = await store.aggregates(TENANT, "instance", before=first[-1].id, most=4)
        assert [each.id for each in first + second] == newest
        assert first[0].state == b"state" and first[0].version == 1
        active = await store.aggregates(TENANT, "instance", "active")
        assert {each.id for each in active} == {id_of(label) for label in (1, 3, 5)}
        assert await store.aggregates(TENANT, "process") == []


async def test_instances_are_listed_by_an_index_row(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        for label in range(5):
            index = [("kyc", "version", "1" if label < 3 else "2")]
            await driver.commit(instance(label, status="completed" if label == 0 else "active", index=index))
        wanted = sorted((id_of(label) for label in (3, 4)), reverse=True)
        assert [each.id for each in await store.indexed(TENANT, "kyc", "version", "2")] == wanted
        assert await store.indexed("stranger", "kyc", "version", "2") == []


async def test_a_damaged_instance_is_set_aside_and_the_others_are_listed(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        for label in range(3):
            await driver.commit(instance(label))
        with Raw(store_url) as raw:
            raw("UPDATE aggregate SET state = ? WHERE id = ?", b"other", id_of(1))
        store = store_over(driver)
        assert {each.id for each in await store.aggregates(TENANT, "instance")} == {id_of(0), id_of(2)}
        assert [bytes(row[0]) for row in await store.quarantined()] == [id_of(1)]


async def test_what_has_ended_is_found_for_each_kind_by_itself(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        await driver.commit(msgspec.structs.replace(instance("a"), ended_at=5))
        await driver.commit(msgspec.structs.replace(unit_of("call"), ended_at=6))
        assert await store.ended(10, 1) == [(id_of("call"), TENANT)]
        assert await store.ended(10, 1, "instance") == [(id_of("a"), TENANT)]


@pytest.mark.req("X8")
@pytest.mark.parametrize(("name", "index"), INDEXES.items())
def test_a_look_up_goes_by_its_own_index_on_sqlite(name: str, index: str) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate_sqlite(connection, ":memory:")
    query = load_queries("sqlite")[name]
    parameters = dict.fromkeys(re.findall(r":([a-z_]+)", query))
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", parameters)]
    assert index in plan[0], plan
    assert name == "find_tokens" or not any("TEMP B-TREE" in step for step in plan), plan
    connection.close()


@pytest.mark.req("X8")
async def test_every_look_up_goes_by_its_own_index_on_postgres(postgres_url: str) -> None:
    async with opened(postgres_url):
        pass
    ours = load_statements()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(ours["prepare_session"].sql)
        for name, index in INDEXES.items():
            connection.execute(b"PREPARE " + name.encode() + b" AS " + ours[name].sql)
            nulls = ", ".join(["NULL"] * len(ours[name].parameters))
            (plan,) = connection.execute(f"EXPLAIN (FORMAT JSON) EXECUTE {name}({nulls})").fetchone() or ()
            text = json.dumps(plan)
            assert f'"Index Name": "{index}"' in text and "Index Cond" in text, (name, text)
            assert "Seq Scan" not in text and (name == "find_tokens" or '"Sort"' not in text), (name, text)
