"""One changed byte anywhere: found, named, set aside; every other call goes on, with a worker running all the while."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from perdure import Perdure
from perdure.errors import QuarantinedError
from perdure.sources import parse_id
from perdure.store.audit import Report, verify
from tests.conformance.stores import Raw
from tests.crash.scenarios import Handlers
from tests.durability.platform import opened, plain_driver


async def prepared(url: str, verb: str = "t.wait", count: int = 2) -> list[str]:
    """Ids of calls in a store that nobody has open."""
    async with opened(plain_driver(url), role="caller") as perdure:
        return [(await perdure.call(verb, idempotency_key=f"{verb}-{number}")).id for number in range(count)]


def change_byte(url: str, table: str, column: str, id: str, position: int = -1) -> None:
    """Change one byte of one stored value of a call."""
    owner = "id" if table == "aggregate" else "aggregate"
    with Raw(url) as raw:
        value = raw(f"SELECT {column} FROM {table} WHERE {owner} = ? ORDER BY 1 LIMIT 1", parse_id(id))[0][0]
        data = bytearray(value.encode() if isinstance(value, str) else value)
        data[position] ^= 1
        changed: Any = data.decode() if isinstance(value, str) else bytes(data)
        raw(f"UPDATE {table} SET {column} = ? WHERE {owner} = ? AND {column} = ?", changed, parse_id(id), value)


async def assert_others_go_on(perdure: Perdure, other: str) -> None:
    assert (await perdure.complete(other, {"done": 1})).answer == "applied"
    assert (await perdure.status(other)).result == {"done": 1}
    assert [event.entry async for event in perdure.events(other)][-1] == "StepCompleted"
    assert (await perdure.call("t.external")).state == "completed"


async def set_aside(perdure: Perdure) -> list[tuple[bytes, str]]:
    return [(bytes(row[0]), row[1]) for row in await perdure.runtime.store.quarantined()]


@pytest.mark.req("P7")
@pytest.mark.parametrize(
    ("table", "column", "place"),
    [
        ("aggregate", "state", "aggregate"),
        ("aggregate", "head", "aggregate"),
        ("aggregate", "status", "aggregate"),
        ("payload", "stored", "payload"),
    ],
)
async def test_a_changed_byte_of_state_or_data_is_named_when_it_is_read(
    table: str, column: str, place: str, store_url: str
) -> None:
    damaged, other = await prepared(store_url)
    change_byte(store_url, table, column, damaged)
    async with opened(plain_driver(store_url)) as perdure:
        view = await perdure.status(damaged)
        assert view.state == "quarantined" and view.error is not None
        assert damaged in view.error.message and "other work goes on" in view.error.message
        assert view.error.code == ("payload.damaged" if table == "payload" else "store.quarantined")
        assert await set_aside(perdure) == [(parse_id(damaged), place)]
        await assert_others_go_on(perdure, other)


@pytest.mark.req("P7")
@pytest.mark.parametrize("column", ["body", "hash"])
async def test_a_changed_byte_of_the_journal_is_named_when_it_is_read(column: str, store_url: str) -> None:
    damaged, other = await prepared(store_url)
    change_byte(store_url, "journal", column, damaged)
    async with opened(plain_driver(store_url)) as perdure:
        with pytest.raises(QuarantinedError, match=f"journal '{damaged}', but record 1 no longer matches its hash"):
            [event async for event in perdure.events(damaged)]
        assert await set_aside(perdure) == [(parse_id(damaged), "journal")]
        await assert_others_go_on(perdure, other)


@pytest.mark.req("P7")
async def test_events_read_from_the_middle_are_checked_from_there_on(store_url: str) -> None:
    async with opened(plain_driver(store_url), role="caller") as perdure:
        view = await perdure.call("t.wait")
        await perdure.progress(view.waiting_for.key if view.waiting_for else "", "half")
        await perdure.complete(view.id, {})
        assert [event.sequence async for event in perdure.events(view.id, after=1)] == [2, 3, 3]
        with Raw(store_url) as raw:
            raw("UPDATE journal SET body = ? WHERE sequence = 3", b"\x96")
        with pytest.raises(QuarantinedError, match="record 3"):
            [event async for event in perdure.events(view.id, after=2)]
        assert [event async for event in perdure.events(view.id, after=99)] == []


@pytest.mark.req("P7")
@pytest.mark.parametrize(
    ("table", "column", "code"),
    [
        ("aggregate", "state", "AUD001"),
        ("payload", "stored", "AUD010"),
        ("journal", "body", "AUD002"),
        ("parked", "key", "AUD020"),
        ("parked", "name", "AUD020"),
    ],
)
async def test_an_audit_beside_a_worker_names_and_sets_aside_what_was_changed(
    table: str, column: str, code: str, store_url: str
) -> None:
    damaged, other = await prepared(store_url)
    change_byte(store_url, table, column, damaged)
    async with opened(plain_driver(store_url)) as perdure:
        report: Report = await verify(perdure.runtime.store, perdure.runtime.machines, {})
        assert code in {finding.code for finding in report.findings}
        assert {finding.aggregate for finding in report.findings} == {damaged}
        assert {id for id, _ in await set_aside(perdure)} == {parse_id(damaged)}
        await assert_others_go_on(perdure, other)


@pytest.mark.req("P7")
async def test_a_damaged_call_is_shown_in_lists_and_hides_no_other(store_url: str) -> None:
    damaged, other = await prepared(store_url)
    change_byte(store_url, "aggregate", "state", damaged)
    async with opened(plain_driver(store_url), role="caller") as perdure:
        listed = {row["id"]: row for row in await perdure.parked()}
        assert {id: row["state"] for id, row in listed.items()} == {damaged: "quarantined", other: "parked"}
        assert listed[damaged]["error"]["code"] == "store.quarantined"


@asynccontextmanager
async def abandoned(url: str, calls: int) -> AsyncIterator[list[str]]:
    """Jobs left behind by a process that is gone: their intents are committed, no result is."""
    started: list[str] = []

    async def endless(call: Any) -> dict[str, Any]:
        started.append(call.call_id)
        await asyncio.Event().wait()
        return {}

    handlers: dict[str, Callable[..., Any]] = {**Handlers().bound(), "t.external": endless}
    async with opened(plain_driver(url), handlers, role="caller") as perdure:
        asking = [asyncio.ensure_future(perdure.call("t.external")) for _ in range(calls)]
        while len(started) < calls:
            await asyncio.sleep(0)
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        for job in perdure.runtime.conductor.tasks():
            job.cancel()
    yield started


@pytest.mark.req("P7")
@pytest.mark.parametrize(("table", "column"), [("aggregate", "state"), ("payload", "stored")])
async def test_a_worker_takes_over_every_job_but_the_damaged_one(table: str, column: str, store_url: str) -> None:
    async with abandoned(store_url, 3) as ids:
        change_byte(store_url, table, column, ids[0])
        async with opened(plain_driver(store_url)) as perdure:
            for id in ids[1:]:
                assert (await perdure.wait(id, 30)).state == "completed"
            while not await set_aside(perdure):
                await perdure.runtime.look_after()
                await perdure.runtime.conductor.finish_jobs(None)
            assert {id for id, _ in await set_aside(perdure)} == {parse_id(ids[0])}


@pytest.mark.req("P7")
async def test_retention_erases_every_old_call_but_the_damaged_one(store_url: str) -> None:
    damaged, other = await prepared(store_url, "t.none")
    change_byte(store_url, "aggregate", "state", damaged)
    async with opened(plain_driver(store_url), role="caller") as perdure:
        assert await perdure.runtime.upkeep.erase_old(-60) == 1
        assert (await perdure.status(other)).erased_at is not None
        assert (await perdure.status(damaged)).state == "quarantined"
