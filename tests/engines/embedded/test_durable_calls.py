"""A durable verb's call is carried by a process: begun once, ended once, whatever happens in between."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.bpmn.machine.instance_machine import INSTANCE_ENDED, INSTANCE_TOLD
from perdure.bpmn.model import Event
from perdure.errors import RejectedError
from perdure.journal.notice_routes import read_route
from perdure.sources import Id
from tests.engines.embedded.engine_world import ORIGIN, World, opened
from tests.engines.embedded.process_models import (
    START,
    boundary,
    error,
    failure,
    flow,
    line,
    message,
    model,
    service,
    user,
    wait,
)

CARRIED = line(
    "carried", service("a", "t.one", name="Open the case"), wait("answer", "m", name="Document upload"),
    service("b", "t.two"), messages=(message("m", key="k"),),
)  # fmt: skip
STUCK = line("carried", service("a", "t.one"), service("b", "t.contract"))


async def instance_of(world: World, call: str) -> object:
    found = await world.instances.newest(ORIGIN, business_key=call)
    assert len(found) == 1
    return found[0]


@pytest.mark.req("V24")
async def test_a_call_ends_with_what_its_process_made_of_its_arguments(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CARRIED)
        call = await world.sandbox.call("t.carried", {"given": 7})
        assert call.state == "parked"
        await world.sandbox.run_until_idle()
        call = await world.sandbox.status(call.id)
        assert call.carrier is not None and call.waiting_for is not None
        assert (call.carrier.process, call.carrier.version, call.carrier.state) == ("carried", 1, "active")
        assert call.progress == "1 of 2 steps complete, waiting for document upload"
        assert call.waiting_for.kind == "process"
        instance = await instance_of(world, call.id)
        assert await world.data(instance) == {"given": 7, "t_one": 1}
        assert await world.sandbox.publish("m", "k", {"extra": "x"}) == "correlated"
        await world.sandbox.run_until_idle()
        call = await world.sandbox.status(call.id)
        assert (call.state, call.result) == ("completed", {"t_one": 1, "extra": "x"})
        assert call.carrier is not None and call.carrier.completed == ["t.one", "t.two"]
        assert world.handlers.runs == {"t.one": 1, "t.two": 1}


@pytest.mark.req("V17")
async def test_a_call_asked_for_twice_under_one_key_begins_one_instance(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CARRIED)
        calls = [await world.sandbox.call("t.carried", {}, idempotency_key="once") for _ in range(2)]
        await world.sandbox.run_until_idle()
        assert calls[0].id == calls[1].id
        await instance_of(world, calls[0].id)
        assert world.handlers.runs["t.one"] == 1


@pytest.mark.req("V23")
async def test_cancelling_a_call_cancels_its_instance_and_lists_what_was_completed(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CARRIED)
        call = await world.sandbox.call("t.carried", {})
        await world.sandbox.run_until_idle()
        await world.sandbox.cancel(call.id, "changed my mind")
        await world.sandbox.run_until_idle()
        view = await world.sandbox.status(call.id)
        assert view.state == "cancelled"
        assert view.carrier is not None
        assert (view.carrier.state, view.carrier.completed) == ("cancelled", ["t.one"])
        entries = [event.entry async for event in world.sandbox.events(call.id)]
        assert entries[-2:] == ["CancelRequested", "CallCancelled"]
        assert await world.sandbox.publish("m", "k") == "no_subscription"


@pytest.mark.req("V23")
async def test_a_call_cancelled_before_its_instance_began_begins_none(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CARRIED)
        call = await world.sandbox.call("t.carried", {})
        await world.sandbox.cancel(call.id)
        await world.sandbox.run_until_idle()
        found = await world.instances.newest(ORIGIN, business_key=call.id)
        assert {each.state.status for each in found} <= {"cancelled"}
        assert (await world.sandbox.status(call.id)).state == "cancelled"


@pytest.mark.req("V23")
async def test_a_completion_racing_a_cancel_leaves_one_outcome(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CARRIED)
        call = await world.sandbox.call("t.carried", {})
        await world.sandbox.run_until_idle()
        results = await asyncio.gather(
            world.sandbox.publish("m", "k"), world.sandbox.cancel(call.id), return_exceptions=True
        )
        await world.sandbox.run_until_idle()
        view = await world.sandbox.status(call.id)
        assert view.state in ("cancelled", "completed")
        assert not isinstance(results[1], BaseException) or view.state == "completed"
        entries = [event.entry async for event in world.sandbox.events(call.id)]
        assert sum(entry in ("CallCancelled", "StepCompleted", "StepFailed") for entry in entries) == 1


@pytest.mark.req("V16")
async def test_an_incident_of_the_process_parks_the_call_and_is_mended_through_it(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(STUCK)
        call = await world.sandbox.call("t.carried", {})
        await world.sandbox.run_until_idle()
        view = await world.sandbox.status(call.id)
        assert view.state == "parked", "an open incident is not the end"
        assert view.waiting_for is not None and view.waiting_for.kind == "incident"
        assert view.carrier is not None and view.carrier.incidents[0].element == "b"
        assert [each.id for each in await world.sandbox.incidents()] == [call.id]
        world.handlers.is_broken = False
        await world.sandbox.retry(call.id)
        await world.sandbox.run_until_idle()
        view = await world.sandbox.status(call.id)
        assert (view.state, view.result) == ("completed", {"t_one": 1})
        assert await world.sandbox.incidents() == []
        entries = [event.entry async for event in world.sandbox.events(call.id)]
        # That it was closed and that the process ended are told by two notices, in either order.
        assert entries[2:4] == ["ProcessAsked", "IncidentCreated"]
        assert entries.count("IncidentCreated") == 1 and entries.count("IncidentClosed") == 1


NOTICES = [INSTANCE_TOLD, INSTANCE_ENDED]


@pytest.mark.req("V16", "V17")
@pytest.mark.parametrize("order", [NOTICES, NOTICES[::-1]], ids=["told first", "ended first"])
@pytest.mark.parametrize("times", [1, 2], ids=["once", "twice"])
async def test_what_a_call_says_does_not_depend_on_which_notice_of_its_process_comes_first(
    store_url: str, order: list[str], times: int
) -> None:
    async with opened(store_url) as world:
        await world.deploy(STUCK)
        call = await world.sandbox.call("t.carried", {})
        await world.sandbox.run_until_idle()
        world.handlers.is_broken = False
        deliveries = world.engine.notices._deliveries
        held = {kind: deliveries[kind] for kind in NOTICES}
        deliveries.update(dict.fromkeys(NOTICES, not_yet))
        await world.sandbox.retry(call.id)
        await world.sandbox.run_until_idle()
        waiting = await world.sandbox.runtime.store.pending_messages(0, 10)
        assert sorted(kind for _, _, _, kind, _ in waiting) == sorted(NOTICES)
        deliveries.update(held)
        for _, tenant, message_id, kind, id in sorted(waiting, key=lambda each: order.index(each[3])):
            kept = await world.sandbox.runtime.store.message(tenant, message_id)
            for _ in range(times):  # by two processes that both saw it waiting
                await held[kind](tenant, message_id, id, read_route(kind, message_id, kept.body))
        view = await world.sandbox.status(call.id)
        assert (view.state, view.result) == ("completed", {"t_one": 1})
        entries = [event.entry async for event in world.sandbox.events(call.id)]
        for entry in ("IncidentCreated", "IncidentClosed", "CompletionReceived", "StepCompleted"):
            assert entries.count(entry) == 1, entries
        assert await world.sandbox.runtime.store.pending_messages(0, 10) == []


async def not_yet(tenant: str, message_id: str, id: Id, route: Any) -> bool:
    return False


@pytest.mark.req("V16")
async def test_an_incident_resolved_through_the_call_ends_the_stuck_task(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(STUCK)
        call = await world.sandbox.call("t.carried", {})
        await world.sandbox.run_until_idle()
        await world.sandbox.resolve(call.id, {"extra": "by hand"}, reason="seen")
        await world.sandbox.run_until_idle()
        assert (await world.sandbox.status(call.id)).result == {"t_one": 1, "extra": "by hand"}


async def test_a_process_that_fails_fails_its_call_with_the_same_code(store_url: str) -> None:
    failing = model(
        "carried",
        (START, service("a", "t.one"), Event(id="no", position="end", triggers=(error("NO"),))),
        (flow("start", "a"), flow("a", "no")), errors=(failure("NO"),),
    )  # fmt: skip
    async with opened(store_url) as world:
        await world.deploy(failing)
        call = await world.sandbox.call("t.carried", {})
        await world.sandbox.run_until_idle()
        view = await world.sandbox.status(call.id)
        assert view.state == "failed"
        assert view.error is not None and view.error.code == "NO"


async def test_a_result_that_does_not_fit_the_verb_is_an_incident_of_the_call(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("carried", service("b", "t.two")))
        call = await world.sandbox.call("t.carried", {})
        await world.sandbox.run_until_idle()
        view = await world.sandbox.status(call.id)
        assert view.waiting_for is not None and view.waiting_for.code == "process.result"
        await world.sandbox.resolve(call.id, {"t_one": 5})
        assert (await world.sandbox.status(call.id)).result == {"t_one": 5}


async def test_a_call_ended_by_hand_leaves_no_instance_running(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CARRIED)
        call = await world.sandbox.call("t.carried", {})
        await world.sandbox.run_until_idle()
        await world.sandbox.complete(f"{call.id}:1", {"t_one": 9})
        await world.sandbox.run_until_idle()
        assert (await world.sandbox.status(call.id)).result == {"t_one": 9}
        assert (await instance_of(world, call.id)).state.status == "cancelled"


async def test_a_verb_whose_process_is_not_deployed_is_refused_by_name() -> None:
    async with opened() as world:
        with pytest.raises(RejectedError, match=r"process 'carried', but it is not deployed"):
            await world.sandbox.call("t.carried", {})


@pytest.mark.req("V11")
@pytest.mark.req("V14")
async def test_the_worker_refuses_what_the_verb_does_not_list_and_what_is_durable() -> None:
    loose = line("p", service("a", "t.long"))
    async with opened() as world:
        await world.deploy(loose)
        stuck = await world.sandbox.instances.get(world.letters(await world.start("p")))
        (incident,) = stuck.incidents
        assert incident.element == "a" and "durable" in incident.text
        assert await world.sandbox.parked() == [], "what is durable was not begun"


@pytest.mark.req("V8")
async def test_a_payload_changed_in_the_store_is_never_handed_to_a_handler(sqlite_url: str) -> None:
    import sqlite3  # noqa: PLC0415

    async with opened(sqlite_url) as world:
        await world.deploy(line("p", user("wait"), service("a", "t.one")))
        begun = await world.start("p", data={"amount": 1})
        node = world.node(begun, "wait")
    with sqlite3.connect(sqlite_url.removeprefix("sqlite:///")) as file:
        file.execute("UPDATE payload SET stored = replace(CAST(stored AS TEXT), '\"amount\":1', '\"amount\":9')")
    file.close()
    async with opened(sqlite_url) as world:
        with pytest.raises(Exception, match=r"payload hash differs"):
            await world.engine.complete_task(begun.id, node, ORIGIN, data={"b": 1})
        assert world.handlers.runs["t.one"] == 0


async def test_boundary_errors_of_sub_verbs_are_caught_inside_the_process(store_url: str) -> None:
    model_ = line(
        "p", service("a", "t.refused"), more=(boundary("no", "a", error("CARD_DECLINED")), service("b", "t.one")),
        flows=(flow("no", "b"), flow("b", "end")), errors=(failure("CARD_DECLINED"),),
    )  # fmt: skip
    async with opened(store_url) as world:
        await world.deploy(model_)
        ended = await world.start("p")
        assert (ended.state.status, await world.data(ended)) == ("completed", {"t_one": 1})
