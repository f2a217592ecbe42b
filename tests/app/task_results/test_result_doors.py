"""Task results: source spellings, poison and its replay, signed senders, a restricted role, a store that goes away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from perdure import Perdure
from perdure.app.task_results.result_intake import Sender
from perdure.buses.bus import Delivery
from perdure.buses.bus_settings import Broker, BusSettings, ResultSource
from perdure.buses.delivery_loop import DeliveryLoop
from perdure.buses.delivery_outcome import TABLE, Outcome, Taken, decide
from perdure.errors import RejectedError, StoreUnavailableError
from perdure.lifecycles.task_results import TaskResult, read_result, result_of
from perdure.testing.sandbox import Sandbox
from perdure.testing.virtual_clock import VirtualSources
from tests.app.task_results.doors import insert
from tests.app.task_results.test_round_trip import LIFECYCLE
from tests.buses.brokers import fresh_source
from tests.lifecycles.onboarding import ME, Handlers, catalogue, lifecycles_of, written

ONE = LIFECYCLE.replace("            expected: 2\n", "")


@asynccontextmanager
async def opened(url: str, folder: Path) -> AsyncIterator[tuple[Sandbox, str]]:
    """A sandbox with one client whose passport was asked for, and the correlation id of that."""
    async with Sandbox.open(
        url, definitions=catalogue(), lifecycles=[written(folder, ONE)], handlers=Handlers().bound()
    ) as sandbox:
        begun = await lifecycles_of(sandbox).start("onboarding", "c1", {}, ME)
        await sandbox.run_until_idle()
        state = (await sandbox.runtime.kernel.read(begun.aggregate.id, ME)).state
        yield sandbox, state.tasks[0].correlation_id


async def state_of(perdure: Perdure) -> str:
    found = await perdure.runtime.lifecycles.newest("onboarding", "c1", ME)
    return found.state.state if found is not None else ""


@pytest.mark.req("T3")
@pytest.mark.parametrize(
    "text",
    [
        '{"correlation_id": "a", "verb": "papers.ask", "status": "Completed", "cargo_type": "document",'
        ' "cargo_ref": "entity://default/1", "error": null, "timestamp": "2026-01-23T00:00:00Z"}',
        '{"correlation-id": "a", "verb": "papers.ask", "status": "completed", "cargo-type": "document",'
        ' "cargo-ref": "entity://default/1"}',
        '{"correlationId": "a", "verb": "papers.ask", "status": "completed", "cargoType": "document",'
        ' "cargoRef": "entity://default/1"}',
    ],
)
def test_a_result_is_one_however_its_fields_are_spelled(text: str) -> None:
    expected = TaskResult("a", "completed", "document", "entity://default/1", verb="papers.ask")
    assert read_result(text.encode()) == expected


@pytest.mark.req("T3")
def test_a_bundle_names_its_task_and_its_pieces() -> None:
    body = {
        "task_id": "a", "status": "completed", "idempotency_key": "k",
        "items": [{"cargo_ref": "entity://default/1"}, {"cargoRef": "", "status": "Failed", "error": "blurred"}],
    }  # fmt: skip
    result = read_result(json.dumps(body).encode())
    assert [(each.cargo_ref, each.status, each.error) for each in result.all_items()] == [
        ("entity://default/1", "completed", ""),
        ("", "failed", "blurred"),
    ]


@pytest.mark.req("T3")
def test_a_result_is_the_same_by_every_door_whatever_the_door_adds() -> None:
    single = {"correlation_id": "a", "status": "completed", "cargo_ref": "entity://default/1"}
    typed = {**single, "cargo_type": "entity", "verb": "papers.ask"}
    bundle = {"task_id": "a", "status": "Completed", "items": [{"cargo_ref": "entity://default/1"}]}
    ids = {result_of(each).message_id for each in (single, typed, bundle)}
    assert len(ids) == 1
    changes = ({"cargo_ref": "entity://default/2"}, {"correlation_id": "b"}, {"error": "x"})
    others = [{**single, **change} for change in changes]
    assert len({result_of(each).message_id for each in others} | ids) == 4


@pytest.mark.parametrize(
    ("body", "fact"),
    [
        (b"\xff", "no JSON"),
        (b"[]", "no JSON object"),
        (b'{"status": "completed"}', "correlation_id"),
        (b'{"correlation_id": "a", "status": "done"}', "no task result"),
        (b'{"correlation_id": "a", "status": "failed", "payload": {}}', "payload"),
        (b'{"correlation_id": "a\\u0000", "status": "failed"}', "NUL"),
        (b'{"correlation_id": "a", "status": "failed", "items": "[{"}', "items are no JSON"),
        (b'{"correlation_id": "", "status": "failed"}', "empty"),
    ],
)
def test_what_is_no_result_is_told(body: bytes, fact: str) -> None:
    with pytest.raises(RejectedError, match=fact):
        read_result(body)


def test_every_outcome_of_a_delivery_has_one_act_and_one_status() -> None:
    acts = {outcome: (decide(outcome, 1), decide(outcome, 5)) for outcome in TABLE}
    assert acts == {
        "counted": ("acknowledge", "acknowledge"), "known": ("acknowledge", "acknowledge"),
        "over": ("acknowledge", "acknowledge"), "unknown": ("park", "park"), "bad": ("park", "park"),
        "forbidden": ("park", "park"), "failed": ("retry", "park"), "away": ("pause", "pause"),
    }  # fmt: skip
    assert [TABLE[each].status for each in ("counted", "known", "over", "unknown", "bad")] == [202, 200, 200, 404, 400]


@pytest.mark.both_stores
@pytest.mark.req("T4")
async def test_a_row_is_taken_in_once_and_poison_is_parked_and_replayed(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as (sandbox, correlation):
        insert(store_url, {"correlation_id": correlation, "status": "completed", "cargo_ref": "passport.pdf"})
        insert(store_url, {"correlation_id": "nobody:asked", "verb": "papers.ask", "status": "expired"})
        await sandbox.run_until_idle()
        letters = await sandbox.runtime.store.dead_letters("default", 10)
        assert sorted(each.answer.split(", but ")[1] for each in letters)[0].startswith("its cargo 'passport.pdf'")
        poison = next(each for each in letters if "passport.pdf" in each.answer)
        with pytest.raises(RejectedError, match="is not a pointer"):
            await sandbox.replay(poison.message_id)
        assert len(await sandbox.runtime.store.dead_letters("default", 10)) == 2
        good = {"correlation_id": correlation, "status": "completed", "cargo_ref": "entity://default/1"}
        await sandbox.runtime.results.park(
            json.dumps(good).encode(), Sender("bus:office/s"), "s/1", "the verb was away"
        )
        parked = next(
            each
            for each in await sandbox.runtime.store.dead_letters("default", 10)
            if each.answer == "the verb was away"
        )
        assert (await sandbox.replay(parked.message_id)).answer == "applied"
        await sandbox.run_until_idle()
        assert await state_of(sandbox) == "REVIEW"
        assert len(await sandbox.runtime.store.dead_letters("default", 10)) == 2
        await sandbox.advance("P8D")
        await sandbox.runtime.forget()
        assert await sandbox.runtime.store.task_results.count(10) == 0


@pytest.mark.req("T4")
async def test_a_role_that_may_insert_results_can_do_nothing_else(postgres_url: str, tmp_path: Path) -> None:
    async with opened(postgres_url, tmp_path) as (sandbox, correlation):
        with psycopg.connect(postgres_url, autocommit=True) as owner:
            owner.execute("DROP ROLE IF EXISTS results_sender")
            owner.execute("CREATE ROLE results_sender LOGIN")
            owner.execute(
                "GRANT INSERT (correlation_id, verb, status, error, cargo_type, cargo_ref, items, idempotency_key)"
                " ON task_result_queue TO results_sender"
            )
            owner.execute("LISTEN task_result_ready")
            with psycopg.connect(postgres_url, user="results_sender", autocommit=True) as sender:
                sender.execute(
                    "INSERT INTO task_result_queue (correlation_id, verb, status, cargo_type, cargo_ref)"
                    " VALUES (%s, 'papers.ask', 'completed', 'document', 'entity://default/1')",
                    [correlation],
                )
                for refused in (
                    "SELECT * FROM task_result_queue", "DELETE FROM task_result_queue", "SELECT * FROM journal",
                    "UPDATE task_result_queue SET status = 'failed'", "TRUNCATE task_result_queue",
                    "INSERT INTO task_result_queue (tenant, correlation_id, status) VALUES ('other', 'a', 'failed')",
                    "INSERT INTO task_result_queue (correlation_id, status, processed_at) VALUES ('a', 'failed', 1)",
                ):  # fmt: skip
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        sender.execute(refused)
            told = list(owner.notifies(timeout=5, stop_after=1))
            assert [(each.channel, each.payload) for each in told] == [("task_result_ready", correlation)]
            await sandbox.run_until_idle()
            assert await state_of(sandbox) == "REVIEW"
            owner.execute("DROP OWNED BY results_sender")
            owner.execute("DROP ROLE results_sender")


class Scripted:
    """A consumer that delivers what it is given and remembers what was acknowledged."""

    def __init__(self, *bodies: bytes) -> None:
        self._waiting = [Delivery(f"s/{number}", body) for number, body in enumerate(bodies)]
        self.acknowledged: list[bytes] = []
        self.held = 0

    async def receive(self, most: int, seconds: float) -> list[Delivery]:
        found, self._waiting = self._waiting, []
        return found

    async def acknowledge(self, settled: Sequence[Delivery]) -> None:
        self.acknowledged += [each.body for each in settled]

    async def hold(self, open: Sequence[Delivery]) -> None:
        self.held += 1

    async def close(self) -> None: ...


def loop_of(script: dict[bytes, list[Outcome]], parked: list[tuple[bytes, str]], clock: VirtualSources) -> DeliveryLoop:
    async def take(delivery: Delivery) -> Taken:
        outcomes = script[delivery.body]
        outcome = outcomes.pop(0) if len(outcomes) > 1 else outcomes[0]
        return Taken(outcome, f"{outcome} of {delivery.body.decode()}")

    async def park(delivery: Delivery, reason: str) -> None:
        if reason == "bad of full" and not any(body == b"full" for body, _ in parked):
            parked.append((b"full", "refused"))
            raise StoreUnavailableError("write to", "store", "s", "it is away")
        parked.append((delivery.body, reason))

    async def join() -> Any: ...

    return DeliveryLoop("office/s", join, take, park, clock, max_tries=3)


async def played(loop: DeliveryLoop, consumer: Scripted, clock: VirtualSources) -> None:
    """One round, with the clock moved on whenever everybody sleeps."""
    task = asyncio.ensure_future(loop.round(consumer))
    while not task.done():
        if (wakes := clock.next_wake()) is not None:
            clock.move_to(wakes)
        await asyncio.sleep(0)
    await task


@pytest.mark.req("T4")
async def test_nothing_is_acknowledged_before_it_counts_or_is_parked() -> None:
    clock, parked = VirtualSources(1), list[tuple[bytes, str]]()
    script: dict[bytes, list[Outcome]] = {
        b"good": ["counted"], b"twice": ["known"], b"bad": ["bad"], b"flaky": ["failed", "counted"],
        b"broken": ["failed"], b"away": ["away"] * 9 + ["counted"], b"full": ["bad"],
    }  # fmt: skip
    consumer = Scripted(*script)
    loop = loop_of(script, parked, clock)
    await played(loop, consumer, clock)
    assert consumer.acknowledged[:3] == [b"good", b"twice", b"bad"]
    assert sorted(consumer.acknowledged) == sorted(script), "each was acknowledged once"
    assert consumer.acknowledged[-1] == b"away", "an absent store costs no try"
    assert dict(parked)[b"broken"] == "failed of broken"
    assert (b"full", "bad of full") in parked, "a letter that could not be written is written later"
    assert consumer.held >= 9
    assert loop.paused == ""


@pytest.mark.req("T4")
@pytest.mark.req("T12")
async def test_a_worker_consumes_what_the_project_names_and_stops_cleanly(
    sqlite_url: str, redis_url: str, tmp_path: Path
) -> None:
    source = fresh_source()
    bus = BusSettings((Broker("office", redis_url),), (ResultSource("office", source, verbs=("papers.*",)),))
    async with Perdure.open(
        sqlite_url, definitions=catalogue(), lifecycles=[written(tmp_path, ONE)], handlers=Handlers().bound(), bus=bus
    ) as perdure:
        begun = await perdure.lifecycles.start("onboarding", "c1")
        tasks = begun.instance.tasks
        while not tasks:
            await perdure.runtime.store.changed(1.0)
            tasks = (await perdure.lifecycles.get(begun.instance.id)).tasks
        perdure.runtime.measure()
        body = {"correlation_id": tasks[0].correlation_id, "status": "completed", "cargo_ref": "entity://default/1"}
        await perdure.runtime.buses.publish("office", source, json.dumps(body).encode(), message_id="m1")
        while await state_of(perdure) != "REVIEW":
            await perdure.runtime.store.changed(1.0)
        broker = await perdure.runtime.buses.get("office")
        while await broker.lag(source, "perdure"):
            await perdure.runtime.sources.sleep(10_000)
        text = (await perdure.runtime.scrape()).decode()
        assert f'perdure_bus_lag{{source="office/{source}"}} 0.0' in text
        assert f'perdure_bus_paused{{source="office/{source}"}} 0.0' in text
        assert f'perdure_task_results_total{{door="bus:office/{source}",outcome="counted"}} 1.0' in text
