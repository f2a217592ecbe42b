"""One trace per runbook: across waits, restarts, workers, processes and whoever completes it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perdure.app.perdure import Perdure
from perdure.sources import SECOND, id_text
from perdure.telemetry import TelemetrySettings, TraceSettings, derived_trace_id, parse_traceparent
from perdure.testing.sandbox import Sandbox
from perdure.testing.virtual_clock import VirtualSources
from tests.engines.embedded.engine_world import opened as engine_opened
from tests.engines.embedded.process_models import call, line, message, service, wait
from tests.engines.embedded.test_durable_calls import CARRIED, STUCK
from tests.pair import pair
from tests.runbooks.sample_verbs import Handlers, catalogue
from tests.telemetry.span_collection import Gathered, attribute

pytestmark = pytest.mark.req("X22")

TRACES = TelemetrySettings(traces=TraceSettings("http://localhost:4318/v1/traces"))
GIVEN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
PLAN = """
LET first = EXEC kyc.score(entity: "Allianz")
LET second = EXEC kyc.documents(entity: "Allianz") AFTER first
EXEC kyc.notify() AFTER second
"""


def opened(url: str, gathered: Gathered, handlers: Handlers | None = None, **more: Any) -> Any:
    return Perdure.open(
        url, definitions=catalogue(), handlers=(handlers or Handlers()).bound(), telemetry=TRACES,
        span_exporter=gathered.exporter(), **more,
    )  # fmt: skip


async def test_a_runbook_that_waits_over_a_restart_and_is_completed_by_another_worker_is_one_trace(
    store_url: str,
) -> None:
    gathered = Gathered()
    async with opened(store_url, gathered) as perdure:
        view = await perdure.call("kyc.documents", {"entity": "Allianz"})
        assert view.state == "parked"
    assert gathered.names == []  # nothing of it is over
    async with opened(store_url, gathered) as perdure:
        assert (await perdure.complete(f"{view.id}:1", {"case_id": "c"})).answer == "applied"
    gathered.check()
    assert gathered.names == ["runbook kyc.documents", "wait kyc.documents"]
    assert gathered.parent("wait kyc.documents") == "runbook kyc.documents"
    root = gathered.one("runbook kyc.documents")
    assert root.parent is None and root.context.trace_id == int(derived_trace_id(view.id), 16)
    assert attribute(root, "runbook") == view.id and attribute(root, "state") == "completed"


async def test_a_wait_of_nine_days_is_as_long_in_its_trace(store_url: str) -> None:
    gathered, clock = Gathered(), VirtualSources(0)
    handlers = Handlers()
    async with Sandbox.open(store_url, definitions=catalogue(), handlers=handlers.bound(), clock=clock) as sandbox:
        sandbox.runtime.trace(gathered.spans())
        view = await sandbox.call("kyc.documents", {"entity": "Allianz"})
    clock.move_to(clock.now() + 9 * 86_400 * SECOND)
    async with Sandbox.open(store_url, definitions=catalogue(), handlers=handlers.bound(), clock=clock) as sandbox:
        sandbox.runtime.trace(gathered.spans())
        await sandbox.complete(f"{view.id}:1", {"case_id": "c"})
    waited = gathered.one("wait kyc.documents")
    assert waited.end_time - waited.start_time >= 9 * 86_400 * 10**9
    root = gathered.one("runbook kyc.documents")
    assert root.end_time - root.start_time >= 9 * 86_400 * 10**9


async def test_a_completion_delivered_twice_is_in_the_trace_once(store_url: str) -> None:
    gathered = Gathered()
    async with opened(store_url, gathered) as perdure:
        view = await perdure.call("kyc.documents", {"entity": "Allianz"})
        key = f"{view.id}:1"
        first = await perdure.complete(key, {"case_id": "c"}, message_id="m-1")
        again = await perdure.complete(key, {"case_id": "c"}, message_id="m-1")
        late = await perdure.complete(key, {"case_id": "d"}, message_id="m-2")
        assert (first.answer, again.answer) == ("applied", "duplicate") and late.answer != "applied"
    gathered.check()
    assert gathered.names == ["runbook kyc.documents", "wait kyc.documents"]


async def test_whoever_completes_a_wait_is_linked_and_keeps_their_own_trace(store_url: str) -> None:
    gathered = Gathered()
    async with opened(store_url, gathered) as perdure:
        view = await perdure.call("kyc.documents", {"entity": "Allianz"})
        await perdure.acting(trace=GIVEN).complete(f"{view.id}:1", {"case_id": "c"})
    gathered.check()
    waited = gathered.one("wait kyc.documents")
    assert [f"{link.context.trace_id:032x}-{link.context.span_id:016x}" for link in waited.links] == [GIVEN[3:-3]]
    assert waited.context.trace_id == int(derived_trace_id(view.id), 16)


async def test_a_caller_s_trace_is_that_of_the_runbook_for_life(store_url: str) -> None:
    gathered = Gathered()
    async with opened(store_url, gathered) as perdure:
        view = await perdure.acting(trace=GIVEN).call("kyc.documents", {"entity": "Allianz"})
    async with opened(store_url, gathered) as perdure:
        await perdure.complete(f"{view.id}:1", {"case_id": "c"})
    gathered.check()
    root = gathered.one("runbook kyc.documents")
    assert root.context.trace_id == int(GIVEN[3:35], 16)
    assert root.parent is not None and root.parent.is_remote and root.parent.span_id == int(GIVEN[36:52], 16)
    assert gathered.one("wait kyc.documents").links == ()


async def test_every_attempt_is_a_span_and_its_handler_gets_that_span_to_pass_on(store_url: str) -> None:
    gathered, handlers = Gathered(), Handlers()
    async with Sandbox.open(store_url, definitions=catalogue(), handlers=handlers.bound()) as sandbox:
        sandbox.runtime.trace(gathered.spans())
        view = await sandbox.call("kyc.flaky")
        await sandbox.advance("PT1M")
        assert (await sandbox.status(view.id)).state == "completed"
        await sandbox.runtime.observer.drain()
    gathered.check()
    attempts = {attribute(span, "attempt"): span for span in gathered.all if span.name == "attempt kyc.flaky"}
    assert sorted(attempts) == [1, 2, 3]
    assert [attempts[number].status.is_ok for number in (1, 2, 3)] == [False, False, True]
    passed = [parse_traceparent(each.trace["traceparent"]) for each in handlers.calls]
    assert [int(each.span_id, 16) for each in passed] == [attempts[n].context.span_id for n in (1, 2, 3)]
    assert {int(each.trace_id, 16) for each in passed} == {attempts[1].context.trace_id}


async def test_a_plan_is_one_trace_with_a_span_for_each_attempt_and_wait(store_url: str) -> None:
    gathered, handlers = Gathered(), Handlers()
    async with opened(store_url, gathered, handlers) as perdure:
        view = await perdure.runbooks.start(PLAN, wait=True)
        assert view.state == "parked", view
    async with opened(store_url, gathered, handlers) as perdure:
        await perdure.complete(f"{view.id}:2", {"case_id": "c"})
        assert (await perdure.runbooks.wait(view.id)).state == "completed"
    gathered.check()
    assert gathered.names == ["attempt kyc.notify", "attempt kyc.score", "runbook", "wait kyc.documents"]
    assert {gathered.parent(name) for name in gathered.names if name != "runbook"} == {"runbook"}


async def test_a_worker_that_takes_over_goes_on_in_the_same_trace(store_url: str) -> None:
    gathered, handlers = Gathered(), Handlers()
    async with pair(store_url, catalogue(), handlers.bound()) as both:
        both.first.runtime.trace(gathered.spans())
        both.second.runtime.trace(gathered.spans())
        view = await both.first.call("kyc.flaky")
        await both.lapse()
        for _ in range(3):
            both.clock.move_to(both.clock.now() + 60 * SECOND)
            assert both.second.runtime.lease.beat_once()
            await both.second.runtime.timers.load()
            await both.second.runtime.timers.fire_due(both.clock.now())
            await both.second.runtime.look_after()
            await both.second.runtime.conductor.finish_jobs(None)
        assert (await both.second.status(view.id)).state == "completed"
        await both.first.runtime.observer.drain()
        await both.second.runtime.observer.drain()
        gathered.check()
        assert gathered.names == ["attempt kyc.flaky"] * 3 + ["runbook kyc.flaky"]


async def test_a_process_and_its_elements_are_in_the_trace_of_the_call_they_carry(store_url: str) -> None:
    gathered = Gathered()
    async with engine_opened(store_url) as world:
        world.sandbox.runtime.trace(gathered.spans())
        await world.deploy(CARRIED)
        view = await world.sandbox.call("t.carried", {"given": 7})
        await world.sandbox.run_until_idle()
    async with engine_opened(store_url) as world:  # another process, which has seen nothing of it
        world.sandbox.runtime.trace(gathered.spans())
        await world.sandbox.publish("m", "k", {"extra": "secret value"})
        await world.sandbox.run_until_idle()
        assert (await world.sandbox.status(view.id)).state == "completed"
        await world.sandbox.runtime.observer.drain()
    gathered.check()
    assert gathered.names == [
        "attempt t.one", "attempt t.two", "element a", "element answer", "element b", "process carried",
        "runbook t.carried", "wait t.carried",
    ]  # fmt: skip
    above = {name: gathered.parent(name) for name in gathered.names}
    assert above == {
        "attempt t.one": "element a", "attempt t.two": "element b", "element a": "process carried",
        "element answer": "process carried", "element b": "process carried", "process carried": "wait t.carried",
        "wait t.carried": "runbook t.carried", "runbook t.carried": "",
    }  # fmt: skip
    assert "secret value" not in "".join(span.to_json() for span in gathered.all)


async def test_a_called_process_is_in_the_trace_of_what_called_it(store_url: str) -> None:
    gathered = Gathered()
    inner = line("inner", wait("answer", "m"), messages=(message("m", key="k"),))
    outer = line("outer", service("a", "t.one"), call("c", "inner"))
    async with engine_opened(store_url) as world:
        await world.deploy(inner, profile="open")
        await world.deploy(outer, profile="open")
        begun = await world.start("outer")
        world.sandbox.runtime.trace(gathered.spans())  # from here on: what was before is found in the journal
        await world.sandbox.publish("m", "k", {})
        assert (await world.now(begun)).state.status == "completed"
        await world.sandbox.runtime.observer.drain()
    gathered.check()
    assert gathered.names == ["element answer", "element c", "process inner", "process outer"]
    assert gathered.parent("process inner") == "element c"
    assert gathered.parent("element c") == "process outer"
    assert gathered.one("process outer").context.trace_id == int(derived_trace_id(id_text(begun.id)), 16)


async def test_an_escalation_is_in_the_trace_of_what_was_escalated(store_url: str) -> None:
    gathered = Gathered()
    async with Sandbox.open(store_url, definitions=catalogue(), handlers=Handlers().bound()) as sandbox:
        sandbox.runtime.trace(gathered.spans())
        view = await sandbox.acting(trace=GIVEN).call("kyc.decide", {"entity": "Allianz"})
        await sandbox.advance("P8D")
        parked = [each for each in await sandbox.parked() if each["verb"] == "kyc.senior"]
        await sandbox.complete(f"{parked[0]['id']}:1", {})
        await sandbox.run_until_idle()
        assert (await sandbox.status(view.id)).state == "completed"
        await sandbox.runtime.observer.drain()
    gathered.check()
    assert gathered.parent("runbook kyc.senior") == "runbook kyc.decide"


async def test_an_incident_is_an_event_of_the_attempt_or_element_it_stopped(sqlite_url: str) -> None:
    gathered = Gathered()
    async with engine_opened(sqlite_url) as world:
        world.sandbox.runtime.trace(gathered.spans())
        await world.deploy(STUCK)
        view = await world.sandbox.call("t.carried", {})
        await world.sandbox.run_until_idle()
        world.handlers.is_broken = False
        await world.sandbox.retry(view.id)
        await world.sandbox.run_until_idle()
        assert (await world.sandbox.status(view.id)).state == "completed"
        await world.sandbox.runtime.observer.drain()
    gathered.check()
    assert [event.name for event in gathered.one("element b").events] == ["incident"]


async def test_a_plan_that_failed_and_was_retried_has_one_root_and_says_that_it_went_on(store_url: str) -> None:
    gathered, clock = Gathered(), VirtualSources(0)
    async with Sandbox.open(store_url, definitions=catalogue(), handlers=Handlers().bound(), clock=clock) as sandbox:
        sandbox.runtime.trace(gathered.spans())
        view = await sandbox.runbooks.start("EXEC kyc.refuse()", wait=True)
        assert (await sandbox.runbooks.show(view.id)).state == "failed"
    async with Sandbox.open(store_url, definitions=catalogue(), handlers=Handlers().bound(), clock=clock) as sandbox:
        sandbox.runtime.trace(gathered.spans())
        await sandbox.runbooks.retry(view.id, 1)
        await sandbox.run_until_idle()
    gathered.check()
    assert gathered.names == ["attempt kyc.refuse", "attempt kyc.refuse", "runbook", "runbook resumed"]
    assert gathered.parent("runbook resumed") == "runbook"


@pytest.mark.parametrize(("sample", "count"), [(0.0, 0), (1.0, 2)])
async def test_only_the_sampled_part_is_emitted_and_a_caller_s_decision_counts(
    sqlite_url: str, sample: float, count: int
) -> None:
    gathered = Gathered()
    async with Sandbox.open(sqlite_url, definitions=catalogue(), handlers=Handlers().bound()) as sandbox:
        sandbox.runtime.trace(gathered.spans(), sample)
        await sandbox.call("kyc.score", {"entity": "Allianz"})
        await sandbox.runtime.observer.drain()
        assert len(gathered.all) == count
        await sandbox.acting(trace=GIVEN).call("kyc.score", {"entity": "Allianz"})
        await sandbox.acting(trace=GIVEN[:-1] + "0").call("kyc.score", {"entity": "Allianz"})
        await sandbox.runtime.observer.drain()
        assert len(gathered.all) == count + 2


async def test_no_data_is_in_any_span(sqlite_url: str) -> None:
    gathered = Gathered()
    async with Sandbox.open(sqlite_url, definitions=catalogue(), handlers=Handlers().bound()) as sandbox:
        sandbox.runtime.trace(gathered.spans())
        await sandbox.call("kyc.score", {"entity": "Very Secret Holding"})
        await sandbox.call("kyc.refuse")
        waiting = await sandbox.call("kyc.review", {"case": "Very Secret Case"})
        await sandbox.complete("Very Secret Case", {"answer": "Very Secret Answer"})
        assert (await sandbox.status(waiting.id)).state == "completed"
        await sandbox.runtime.observer.drain()
    text = json.dumps([span.to_json() for span in gathered.all])
    assert gathered.all and "Very Secret" not in text and "on a list" not in text
