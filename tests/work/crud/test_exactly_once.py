"""A record and the result of the call that wrote it are committed together, once, whatever happens."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from perdure import Call, Perdure
from perdure.kernel.ports import Conflict, Unit
from perdure.store.audit import verify
from perdure.store.commit_callbacks import awaited
from perdure.testing.fault_injection import submitting
from tests.work.crud.entities import opened, refusal, result

ID = "0191d2a4-5c00-7000-8000-0000000000aa"


class Crash(BaseException):
    """The process is gone; nothing that runs after it counts."""


def crash(perdure: Perdure, monkeypatch: pytest.MonkeyPatch, *, after: bool) -> None:
    """The next commit is the last thing this process does, or the first it does not do."""
    driver = perdure.runtime.driver
    commit = partial(awaited, driver.submit)

    async def crashing(unit: Unit) -> Conflict | None:
        if after:
            await commit(unit)
        raise Crash

    monkeypatch.setattr(driver, "submit", submitting(crashing))


def conflicts(perdure: Perdure, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the commits that were refused, by reason."""
    driver = perdure.runtime.driver
    commit = partial(awaited, driver.submit)
    counted: Counter[str] = Counter()

    async def counting(unit: Unit) -> Conflict | None:
        conflict = await commit(unit)
        if conflict is not None:
            counted[conflict.what] += 1
        return conflict

    monkeypatch.setattr(driver, "submit", submitting(counting))
    return counted


@pytest.mark.req("X3")
@pytest.mark.req("X6")
async def test_a_crash_before_the_commit_leaves_neither_result_nor_record(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(store_url) as perdure:
        with monkeypatch.context() as patched:
            crash(perdure, patched, after=False)
            with pytest.raises(Crash):
                await perdure.call("case.open", {"case_id": ID, "client": "Allianz"}, idempotency_key="once")
    async with opened(store_url) as perdure:
        assert await perdure.runtime.store.idempotent_start("default", "once") is None
        assert (await refusal(perdure, "case.read", case_id=ID))[0] == "not_found"
        view = await perdure.call("case.open", {"case_id": ID, "client": "Allianz"}, idempotency_key="once")
        assert view.result["version"] == 1


@pytest.mark.req("X3")
@pytest.mark.req("X6")
async def test_a_crash_after_the_commit_leaves_both_and_asking_again_writes_nothing(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(store_url) as perdure:
        with monkeypatch.context() as patched:
            crash(perdure, patched, after=True)
            with pytest.raises(Crash):
                await perdure.call("case.open", {"client": "Allianz"}, idempotency_key="once")
    async with opened(store_url) as perdure:
        view = await perdure.call("case.open", {"client": "Allianz"}, idempotency_key="once")
        assert view.state == "completed"
        assert await result(perdure, "case.read", case_id=view.result["case_id"]) == view.result
        assert len((await result(perdure, "case.list"))["records"]) == 1


@pytest.mark.req("X3")
async def test_two_updates_at_once_without_a_version_both_count_one_after_the_other(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(store_url) as perdure:
        await result(perdure, "case.open", case_id=ID, client="Allianz")
        counted = conflicts(perdure, monkeypatch)
        rounds = 0
        while not counted["entity"]:  # whether two meet is up to the store: they are sent until they do
            rounds += 1
            assert rounds <= 50, "the two never met, so nothing was proved"
            await asyncio.gather(
                result(perdure, "case.update", case_id=ID, points=rounds),
                result(perdure, "case.update", case_id=ID, amount=f"{rounds}.50"),
            )
        final = await result(perdure, "case.read", case_id=ID)
        assert (final["points"], final["amount"], final["version"]) == (rounds, f"{rounds}.50", 1 + 2 * rounds)


@pytest.mark.req("X3")
async def test_of_two_updates_at_once_with_one_version_one_is_told_of_the_conflict(store_url: str) -> None:
    async with opened(store_url) as perdure:
        await result(perdure, "case.open", case_id=ID, client="Allianz")
        views = await asyncio.gather(
            *(perdure.call("case.update", {"case_id": ID, "points": each, "version": 1}) for each in (1, 2))
        )
        assert sorted(view.state for view in views) == ["completed", "failed"]
        won = next(view for view in views if view.state == "completed")
        lost = next(view for view in views if view.state == "failed")
        assert lost.error is not None and lost.error.code == "conflict"
        assert await result(perdure, "case.read", case_id=ID) == won.result


async def increase(call: Call) -> dict[str, Any]:
    try:
        found = await call.entities.read("counter", call.args["name"])
    except Exception:
        return dict(await call.entities.create("counter", {"name": call.args["name"], "value": 1}))
    return dict(await call.entities.update("counter", call.args["name"], {"value": found["value"] + 1}))


@pytest.mark.req("X3")
async def test_a_handler_that_reads_and_writes_never_loses_an_increase(store_url: str) -> None:
    async with opened(store_url, {"counter.increase": increase}) as perdure:
        views = await asyncio.gather(*(perdure.call("counter.increase", {"name": "n"}) for _ in range(8)))
        assert sorted(view.result["value"] for view in views) == list(range(1, 9))
        assert sorted(view.result["version"] for view in views) == list(range(1, 9))


@pytest.mark.req("X3")
async def test_two_processes_that_create_one_record_make_it_once(store_url: str) -> None:
    async with opened(store_url) as one, opened(store_url) as other:
        views = await asyncio.gather(
            *(each.call("case.open", {"case_id": ID, "client": name}) for each, name in ((one, "a"), (other, "b")))
        )
        assert sorted(view.state for view in views) == ["completed", "failed"]
        lost = next(view for view in views if view.state == "failed")
        assert lost.error is not None and lost.error.code == "already_exists"
        assert len((await result(one, "case.history", case_id=ID))["versions"]) == 1


@pytest.mark.req("X3")
async def test_two_at_once_that_ensure_one_record_by_another_field_make_it_once(store_url: str) -> None:
    async with opened(store_url) as one, opened(store_url) as other:
        made = await asyncio.gather(*(result(each, "case.ensure", client="Allianz") for each in (one, other)))
        assert sorted(record["version"] for record in made) == [1, 2]
        assert len((await result(one, "case.list"))["records"]) == 1


@pytest.mark.req("X3")
async def test_a_handler_that_fails_leaves_no_record(store_url: str) -> None:
    async def fails(call: Call) -> None:
        await call.entities.create("counter", {"name": "n", "value": 1})
        raise ValueError("after staging")

    async with opened(store_url, {"work.store": fails}) as perdure:
        view = await perdure.call("work.store")
        assert view.attempt is not None and view.attempt.error is not None
        records = perdure.runtime.desk.open("default", "ann")
        assert list(await records.list("counter")) == []


@pytest.mark.req("X3")
async def test_a_handler_that_runs_again_makes_the_same_key(store_url: str) -> None:
    made: list[str] = []

    async def makes(call: Call) -> dict[str, Any]:
        both = [await call.entities.create("case", {"client": name}) for name in ("a", "b")]
        made.extend(record["case_id"] for record in both)
        if call.attempt == 1:
            raise RuntimeError("once")
        return {"keys": [record["case_id"] for record in both]}

    async with opened(store_url, {"work.store": makes}) as perdure:
        view = await perdure.call("work.store", wait=True, timeout_seconds=60)
        assert view.state == "completed"
        assert made[:2] == made[2:] == view.result["keys"] and made[0] != made[1]
        second = await perdure.call("work.store", wait=True, timeout_seconds=60)
        assert not set(second.result["keys"]) & set(made[:2])


@pytest.mark.req("X3")
async def test_the_audit_sees_a_clean_history_and_a_changed_one(sqlite_url: str) -> None:
    async with opened(sqlite_url) as perdure:
        await result(perdure, "case.open", case_id=ID, client="Allianz")
        await result(perdure, "case.update", case_id=ID, points=1)
        runtime = perdure.runtime
        report = await verify(runtime.store, runtime.machines, {}, dry=True)
        assert not [each for each in report.findings if each.code.startswith("AUD03")]
        assert report.entities == 1
        damage(sqlite_url, "UPDATE entity_history SET data = cast(replace(data, 'A', 'B') AS BLOB) WHERE version = 1")
        report = await verify(runtime.store, runtime.machines, {}, dry=True)
        assert [each.code for each in report.findings if each.code.startswith("AUD03")] == ["AUD030"]


def damage(url: str, statement: str) -> None:
    connection = sqlite3.connect(Path(url.removeprefix("sqlite:///")))
    with connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.req("X3")
async def test_many_at_once_at_one_record_take_turns_and_none_is_turned_away(sqlite_url: str) -> None:
    async with opened(sqlite_url, {"counter.increase": increase}) as perdure:
        views = await asyncio.gather(*(perdure.call("counter.increase", {"name": "n"}) for _ in range(60)))
        assert sorted(view.result["value"] for view in views) == list(range(1, 61))
