"""Decisions that a carrier made elsewhere are appended to our journal once, under their position in its log."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import pytest

from perdure.app.audit.store_audit import verify_store
from perdure.bpmn.machine.aggregate_ids import INDEX, INSTANCE
from perdure.bpmn.machine.journal_entries import Left
from perdure.errors import RejectedError
from perdure.journal import SourcePosition
from perdure.kernel.kernel import Answer
from perdure.kernel.ports import Attachments, IndexRow
from perdure.sources import Id, parse_id
from perdure.testing.fault_injection import Crash, FaultyDriver, Side
from perdure.testing.sandbox import quiet_driver
from tests.engines.embedded.engine_world import ORIGIN, World, opened
from tests.engines.embedded.process_models import line, user

MODEL = line("p", user("first"), user("second"))
NUMBERS = (1, 2, 3)


class Decided(NamedTuple):
    """An instance as another engine decided it: its records, and the bytes its state needs."""

    id: Id
    records: list[tuple[int, tuple[Any, ...]]]
    payloads: list[tuple[bytes, bytes]]
    state: bytes


@pytest.fixture
def decided() -> Decided:
    return asyncio.run(_decided())


async def _decided() -> Decided:
    async with opened() as world:
        await world.deploy(MODEL)
        begun = await world.start("p", data={"x": 1})
        for element in ("first", "second"):
            begun = await world.now(begun)
            await world.engine.complete_task(begun.id, world.node(begun, element), ORIGIN, data={element: True})
        ended = await world.now(begun)
        told = await world.instances.history(ended.id, ORIGIN)
        rows = await world.sandbox.runtime.driver.fetch("list_payloads", aggregate=ended.id)
        payloads = [(bytes(row[0]), bytes(row[1])) for row in rows]
        return Decided(
            ended.id, [(each.at, each.entries) for each in told], payloads, world.instances.machine.encode(ended.state)
        )


async def append(world: World, decided: Decided, number: int, position: int = 0, carrier: str = "other") -> Answer:
    """The record of that number, under the position ten times as far."""
    at, entries = decided.records[number - 1]
    brought = Attachments()
    if number == 1:
        brought = Attachments(payloads=list(decided.payloads), index=[IndexRow(INDEX, "process", "p")])
    source = SourcePosition(carrier, 1, position or number * 10)
    return await world.sandbox.runtime.kernel.append(INSTANCE, decided.id, ORIGIN, entries, source, at, brought)


async def assert_sound(world: World, decided: Decided) -> None:
    """The state is the one decided elsewhere, lists and histories tell of it, and the store verifies."""
    (found,) = await world.instances.newest(ORIGIN, process="p")
    assert world.instances.machine.encode(found.state) == decided.state
    told = await world.instances.history(found.id, ORIGIN)
    assert [(each.at, each.entries) for each in told] == decided.records
    assert not (await verify_store(world.sandbox, {}, is_dry=True)).findings


async def test_what_was_decided_elsewhere_is_in_our_journal_and_reads_as_our_own(
    store_url: str, decided: Decided
) -> None:
    async with opened(store_url) as world:
        await world.deploy(MODEL)
        answers = [(await append(world, decided, number)).answer for number in NUMBERS]
        assert answers == ["appended"] * len(NUMBERS)
        await assert_sound(world, decided)
        record = await world.sandbox.runtime.store.records(decided.id, 1, 1)
        source = world.instances.machine.records.decode(record[0].body).source
        assert source == SourcePosition("other", 1, 20)


async def test_a_position_that_comes_again_is_known_and_changes_nothing(store_url: str, decided: Decided) -> None:
    async with opened(store_url) as world:
        await world.deploy(MODEL)
        for number in NUMBERS:
            await append(world, decided, number)
            world.sandbox.runtime.kernel.forget()
            again = [await append(world, decided, each) for each in range(1, number + 1)]
            assert [each.answer for each in again] == ["known"] * number
        await assert_sound(world, decided)


async def test_of_several_who_append_one_position_at_once_one_does(
    store_url: str, decided: Decided, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perdure.testing.sandbox.sandbox_identity", lambda: None)  # two processes, both alive
    async with opened(store_url) as one, opened(store_url) as two:
        await one.deploy(MODEL)
        for number in NUMBERS:
            both = [append(world, decided, number) for world in (one, two) for _ in range(5)]
            answers = [each.answer for each in await asyncio.gather(*both)]
            assert sorted(answers) == ["appended", *["known"] * 9]
        await assert_sound(two, decided)


async def test_a_position_that_was_left_out_is_refused_later(decided: Decided) -> None:
    async with opened() as world:
        await append(world, decided, 1, position=7)
        await append(world, decided, 2, position=9)
        for position in (1, 8):
            with pytest.raises(RejectedError) as refused:
                await append(world, decided, 3, position=position)
            assert refused.value.rejection.code == "wrong_state"
        assert (await append(world, decided, 3, position=1000)).answer == "appended"


async def test_an_aggregate_is_decided_in_one_place(decided: Decided) -> None:
    async with opened() as world:
        await append(world, decided, 1)
        with pytest.raises(RejectedError) as refused:
            await append(world, decided, 2, carrier="third")
        assert refused.value.rejection.code == "wrong_state"
        assert "other, partition 1" in str(refused.value)


@pytest.mark.parametrize(
    "entries", [(), ("no entry",), (Left(number=99, how="completed"),)], ids=["none", "strange", "misfit"]
)
async def test_entries_that_do_not_fit_are_refused_and_leave_nothing(entries: Any, decided: Decided) -> None:
    async with opened() as world:
        await append(world, decided, 1)
        wrong = decided._replace(records=[(1, entries)] * 2)
        with pytest.raises(RejectedError) as refused:
            await append(world, wrong, 2)
        assert refused.value.rejection.code == "invalid"
        assert (await append(world, decided, 2)).answer == "appended"


async def test_the_id_of_something_else_is_refused(decided: Decided) -> None:
    async with opened() as world:
        call = await world.sandbox.call("t.one", {})
        with pytest.raises(RejectedError) as refused:
            await append(world, decided._replace(id=parse_id(call.id)), 1)
        assert refused.value.rejection.code == "not_found"


@pytest.mark.parametrize("side", ["before", "after"])
async def test_a_crash_at_any_append_loses_and_doubles_nothing(store_url: str, side: Side, decided: Decided) -> None:
    async with opened(store_url) as world:
        await world.deploy(MODEL)
    for number in NUMBERS:
        driver = FaultyDriver(quiet_driver(store_url), 1, side)
        with pytest.raises(Crash):
            async with opened(store_url, driver=driver) as dying:
                for each in range(1, number):
                    assert (await append(dying, decided, each)).answer == "known"
                await append(dying, decided, number)
        await driver.drop()
        async with opened(store_url) as world:
            answer = await append(world, decided, number)
            assert answer.answer == ("known" if side == "after" else "appended")
    async with opened(store_url) as world:
        await assert_sound(world, decided)


async def test_first_entries_are_refused_where_the_aggregate_has_begun_here(store_url: str, decided: Decided) -> None:
    async with opened(store_url) as world:
        await world.deploy(MODEL)
        begun = await world.start("p", data={"x": 1})
        at, entries = decided.records[0]
        kernel, source = world.sandbox.runtime.kernel, SourcePosition("other", 0, 1)
        with pytest.raises(RejectedError, match="it has begun, and not at this carrier"):
            await kernel.append(INSTANCE, begun.id, ORIGIN, entries, source, at, begins=True)
        assert (await world.now(begun)).version == begun.version
