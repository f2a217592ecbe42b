"""`call.entities`: what a handler may do with records, and what it is told when it may not."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from perdure import BusinessError, Call, CallView, Perdure
from perdure.errors import QuarantinedError, RecordMisuseError, StoreUnavailableError
from perdure.verbs import load_text
from perdure.work.entity_records import MAX_WRITES, RecordDesk, StagedRecords
from tests.work.crud.entities import opened

ID = "0191d2a4-5c00-7000-8000-0000000000aa"
Work = Callable[[Call], Awaitable[Any]]


async def work(url: str, *handlers: Work, verb: str = "work.store") -> list[CallView]:
    """The calls of handlers, one after the other, on one store."""
    views = []
    for handler in handlers:
        async with opened(url, {verb: handler}) as perdure:
            views.append(await perdure.call(verb))
    return views


def reading(perdure: Perdure) -> StagedRecords:
    return perdure.runtime.desk.open("default", "reader")


async def code_of(operation: Awaitable[Any]) -> str:
    with pytest.raises(BusinessError) as raised:
        await operation
    return raised.value.code


@pytest.mark.req("X3")
async def test_a_handler_sees_its_own_writes_before_they_are_committed(store_url: str) -> None:
    async def handler(call: Call) -> dict[str, Any]:
        records = call.entities
        first = await records.create("holding", {"fund": "f", "isin": "i", "units": 1})
        assert first == {"fund": "f", "isin": "i", "units": 1, "version": 1}
        second = await records.update("holding", ("f", "i"), {"units": 2})
        assert (second["units"], second["version"]) == (2, 1), "one call makes one version"
        assert await records.read("holding", {"fund": "f", "isin": "i"}) == second
        assert list(await records.list("holding")) == [second]
        await records.create("holding", {"fund": "g", "isin": "i"})
        assert await code_of(records.create("holding", {"fund": "g", "isin": "i"})) == "already_exists"
        await records.delete("holding", ("g", "i"))
        assert await code_of(records.read("holding", ("g", "i"))) == "not_found"
        assert (await records.read("holding", ("g", "i"), deleted=True))["deleted"] is True
        assert list(await records.list("holding")) == [second]
        assert await code_of(records.history("holding", ("f", "i"))) == "not_found"
        return {}

    (view,) = await work(store_url, handler)
    assert view.state == "completed", view
    async with opened(store_url) as perdure:
        assert (await reading(perdure).read("holding", ("f", "i")))["units"] == 2
        history = await reading(perdure).history("holding", ("g", "i"))
        assert [(each["version"], each["deleted"], each["call"]) for each in history] == [(1, True, view.id)]


@pytest.mark.req("X3")
async def test_a_record_has_all_declared_fields_and_values_in_one_form(store_url: str) -> None:
    async def handler(call: Call) -> dict[str, Any]:
        fields = {
            "case-id": UUID(ID.upper()), "client": "Allianz", "amount": Decimal("1.10"), "opened_on": date(2024, 2, 29),
            "seen_at": datetime(2024, 2, 29, 12, tzinfo=UTC), "points": 3, "notes": {"b": [1], "a": None},
        }  # fmt: skip
        return dict(await call.entities.create("case", fields))

    (view,) = await work(store_url, handler)
    assert view.result == {
        "case_id": ID, "client": "Allianz", "status": None, "amount": "1.10", "opened_on": "2024-02-29",
        "seen_at": "2024-02-29T12:00:00+00:00", "points": 3, "is_urgent": None, "notes": {"a": None, "b": [1]},
        "version": 1,
    }  # fmt: skip
    async with opened(store_url) as perdure:
        assert await reading(perdure).read("case", ID.upper()) == view.result


@pytest.mark.req("X3")
@pytest.mark.parametrize("effects", ["none", "external"])
async def test_a_write_in_a_verb_without_store_effects_is_refused_and_says_what_to_declare(
    store_url: str, effects: str
) -> None:
    async def handler(call: Call) -> None:
        assert list(await call.entities.list("counter")) == [], "reading is allowed"
        await call.entities.create("counter", {"name": "n", "value": 1})

    (view,) = await work(store_url, handler, verb=f"work.{effects}")
    assert view.waiting_for is not None and view.waiting_for.kind == "incident"
    assert view.waiting_for.code == "record.misuse"
    assert f"`effects: {effects}`" in view.waiting_for.text and "Declare `effects: store`" in view.waiting_for.text
    async with opened(store_url) as perdure:
        assert list(await reading(perdure).list("counter")) == []


@pytest.mark.req("X3")
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
async def test_a_write_that_was_not_awaited_is_noticed(sqlite_url: str) -> None:
    def handler(call: Call) -> None:
        call.entities.create("counter", {"name": "n", "value": 1})

    (view,) = await work(sqlite_url, handler)  # type: ignore[arg-type]
    assert view.waiting_for is not None and view.waiting_for.code == "record.misuse"
    assert "never awaited" in view.waiting_for.text and "async def" in view.waiting_for.text


@pytest.mark.req("X3")
async def test_a_write_after_the_handler_ended_is_refused(sqlite_url: str) -> None:
    kept: list[Any] = []

    async def handler(call: Call) -> None:
        kept.append(call.entities)

    async with opened(sqlite_url, {"work.store": handler}) as perdure:
        await perdure.call("work.store")
        with pytest.raises(RecordMisuseError, match="its handler has ended"):
            await kept[0].create("counter", {"name": "n", "value": 1})


@pytest.mark.req("X3")
async def test_an_unknown_entity_is_told_with_the_nearest_name(sqlite_url: str) -> None:
    async with opened(sqlite_url) as perdure:
        with pytest.raises(RecordMisuseError, match=r"'conter' is not declared.*Did you mean 'counter'"):
            await reading(perdure).read("conter", "n")
        with pytest.raises(RecordMisuseError, match="opened for reading only"):
            await reading(perdure).create("counter", {"name": "n", "value": 1})


@pytest.mark.req("X3")
async def test_operations_begun_together_do_not_lose_each_others_changes(store_url: str) -> None:
    async def begin(call: Call) -> None:
        await call.entities.create("case", {"case_id": ID, "client": "Allianz"})

    async def handler(call: Call) -> None:
        changes = ({"points": 1}, {"amount": "2"}, {"status": "open"})
        await asyncio.gather(*(call.entities.update("case", ID, change) for change in changes))

    await work(store_url, begin, handler)
    async with opened(store_url) as perdure:
        found = await reading(perdure).read("case", ID)
        assert (found["points"], found["amount"], found["status"], found["version"]) == (1, "2", "open", 2)


@pytest.mark.req("X3")
async def test_what_was_read_stays_as_it_was_read_so_that_a_change_between_is_a_conflict(store_url: str) -> None:
    turns: list[int] = []

    async def handler(call: Call) -> dict[str, Any]:
        before = await call.entities.read("counter", "n")
        turns.append(before["value"])
        if len(turns) == 1:
            await other.call("counter.increase", {"name": "n"})
            assert await call.entities.read("counter", "n") == before
        return dict(await call.entities.update("counter", "n", {"value": before["value"] + 10}))

    async def increase(call: Call) -> None:
        found = await call.entities.read("counter", "n")
        await call.entities.update("counter", "n", {"value": found["value"] + 1})

    async def begin(call: Call) -> None:
        await call.entities.create("counter", {"name": "n", "value": 0})

    await work(store_url, begin)
    async with opened(store_url, {"work.store": handler, "counter.increase": increase}) as other:
        view = await other.call("work.store")
        assert (view.result["value"], view.result["version"], turns) == (11, 3, [0, 1])
        assert view.attempt is None, "no attempt failed: the handler ran again before anything was recorded"


@pytest.mark.req("X3")
async def test_keys_that_cannot_be_kept_are_refused(store_url: str) -> None:
    async with opened(store_url) as perdure:
        records = reading(perdure)
        for bad in ("", "a\0b", "x" * 1001, None, ("a", "b"), 5):
            with pytest.raises(Exception, match="Expected to"):
                await records.read("counter", bad)
        assert await code_of(records.read("counter", "é" * 500)) == "not_found"


@pytest.mark.req("X3")
async def test_a_key_never_changes(store_url: str) -> None:
    async def handler(call: Call) -> None:
        await call.entities.create("counter", {"name": "n", "value": 1})
        await call.entities.update("counter", "n", {"name": "n", "value": 2})
        assert await code_of(call.entities.update("counter", "n", {"name": "m"})) == "invalid"

    (view,) = await work(store_url, handler)
    assert view.state == "completed"


@pytest.mark.req("X3")
async def test_a_call_writes_a_bounded_number_of_records_of_bounded_size(sqlite_url: str) -> None:
    async def many(call: Call) -> None:
        for number in range(MAX_WRITES + 1):
            await call.entities.create("counter", {"name": str(number), "value": 1})

    async def large(call: Call) -> None:
        await call.entities.create("case", {"client": "x" * 70_000})

    first, second = await work(sqlite_url, many, large)
    assert first.waiting_for is not None and f"more than {MAX_WRITES} records" in first.waiting_for.text
    assert second.waiting_for is not None and second.waiting_for.code == "payload.too_large"


@pytest.mark.req("X3")
async def test_a_list_with_a_filter_goes_through_everything_in_pages(store_url: str) -> None:
    async def fill(call: Call) -> None:
        for number in range(700):
            await call.entities.create("counter", {"name": f"{number:04}", "value": number % 100})

    async def more(call: Call) -> dict[str, Any]:
        await call.entities.create("counter", {"name": "0123x", "value": 99})
        await call.entities.delete("counter", "0199")
        page = await call.entities.list("counter", {"value": 99}, limit=3)
        rest = await call.entities.list("counter", {"value": 99}, after=page.after)
        return {"names": [record["name"] for record in (*page, *rest)], "last": rest.after}

    _, view = await work(store_url, fill, more)
    assert view.result == {"names": ["0099", "0123x", "0299", "0399", "0499", "0599", "0699"], "last": None}


@pytest.mark.req("X3")
async def test_a_changed_byte_is_an_error_that_names_entity_and_key(sqlite_url: str) -> None:
    async def handler(call: Call) -> None:
        for name in ("good", "bad"):
            await call.entities.create("counter", {"name": name, "value": 1})

    async def touch(call: Call) -> None:
        await call.entities.update("counter", "bad", {"value": 5})

    await work(sqlite_url, handler)
    connection = sqlite3.connect(Path(sqlite_url.removeprefix("sqlite:///")))
    with connection:
        connection.execute("UPDATE entity SET data = replace(data, '1', '2') WHERE key = 'bad'")
    connection.close()
    (view,) = await work(sqlite_url, touch)
    assert view.waiting_for is not None and view.waiting_for.code == "store.quarantined"
    assert "counter/bad" in view.waiting_for.text
    async with opened(sqlite_url) as perdure:
        for damaged in (reading(perdure).read("counter", "bad"), reading(perdure).list("counter")):
            with pytest.raises(QuarantinedError, match="'counter/bad'") as raised:
                await damaged
            assert (raised.value.data["place"], raised.value.data["key"]) == ("entity", "bad")
        assert (await reading(perdure).read("counter", "good"))["value"] == 1
        assert (await reading(perdure).read("counter", "bad", version=1))["value"] == 1, "its history is whole"
        assert [row[1] for row in await perdure.runtime.store.quarantined()] == ["entity"]


@pytest.mark.req("X3")
async def test_fields_no_longer_declared_are_kept_and_not_shown(store_url: str) -> None:
    verbs = "- {name: thing.put, execution: {handler: 'crud::execute', params: {entity: thing, operation: upsert}},"
    verbs += " input_schema: {additionalProperties: true}}\n"
    old = load_text("entities: {thing: {fields: {id: string, a: string, b: string}}}\n---\n" + verbs)
    new = load_text("entities: {thing: {fields: {id: string, a: string}}}\n---\n" + verbs)
    async with Perdure.open(store_url, definitions=old) as perdure:
        await perdure.call("thing.put", {"id": "1", "a": "x", "b": "y"})
    async with Perdure.open(store_url, definitions=new) as perdure:
        view = await perdure.call("thing.put", {"id": "1", "a": "z"})
        assert view.result == {"id": "1", "a": "z", "version": 2}
    async with Perdure.open(store_url, definitions=old) as perdure:
        assert await reading(perdure).read("thing", "1") == {"id": "1", "a": "z", "b": "y", "version": 2}


@pytest.mark.req("X3")
async def test_a_store_that_cannot_be_reached_is_tried_again_and_no_incident(sqlite_url: str) -> None:
    async def handler(call: Call) -> None:
        raise StoreUnavailableError("reach", "store", "x", "it is away")

    async with opened(sqlite_url, {"work.store": handler}) as perdure:
        view = await perdure.call("work.store", wait=True, timeout_seconds=60)
        assert view.state == "failed" and view.error is not None
        assert (view.error.failure_class, view.error.code) == ("transient_infrastructure", "store.unavailable")
        assert view.attempt is not None and view.attempt.attempt == 2


def test_a_desk_needs_no_entities() -> None:
    assert RecordDesk(object(), load_text("[]")).open("t", "p").writes() == ()  # type: ignore[arg-type]


async def test_records_first_opened_after_the_handler_ended_can_be_read_and_not_written(sqlite_url: str) -> None:
    kept: list[Call] = []

    async def handler(call: Call) -> None:
        kept.append(call)

    async with opened(sqlite_url, {"work.store": handler}) as perdure:
        await perdure.call("work.store")
        assert list(await kept[0].entities.list("counter")) == []
        with pytest.raises(RecordMisuseError, match="its handler has ended"):
            await kept[0].entities.create("counter", {"name": "n", "value": 1})


async def test_a_handler_that_renames_its_call_reaches_no_records_of_another_tenant(sqlite_url: str) -> None:
    async def handler(call: Call) -> None:
        call.tenant = "other"
        await call.entities.create("counter", {"name": "n", "value": 1})

    async with opened(sqlite_url, {"work.store": handler}) as perdure:
        await perdure.call("work.store")
        assert len(list(await reading(perdure).list("counter"))) == 1
