"""Processes call processes, throw messages and signals, and start by them."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.app.audit.store_audit import verify_store
from perdure.app.processes.processes import Processes
from perdure.bpmn.model import Event, Gateway, Mapping, MessageTrigger, SignalTrigger, Value
from perdure.bpmn.xml import read_model
from perdure.engine import StartRequest
from perdure.engines.embedded.instances.call_activities import Calls
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.embedded.messages.correlation import Messages
from perdure.errors import DefinitionError
from perdure.processes.instance_reader import InstanceReader
from tests.bpmn.xml.fixtures import in_process
from tests.engines.embedded.engine_world import ORIGIN, World, opened
from tests.engines.embedded.process_models import (
    END,
    after,
    boundary,
    call,
    flow,
    line,
    message,
    model,
    pause,
    service,
    signal,
    throw,
    throw_signal,
    user,
    wait,
)

CHILD = line("child", user("ask"), service("b", "t.two"))
PARENT = line("parent", service("a", "t.one"), call("inner", "child"), service("c", "t.three"))


async def called(world: World) -> object:
    found = await world.instances.newest(ORIGIN, process="child")
    assert len(found) == 1
    return found[0]


@pytest.mark.req("O12")
async def test_a_called_process_gets_the_data_and_gives_back_what_it_changed(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CHILD, profile="open")
        await world.deploy(PARENT, profile="open")
        begun = await world.start("parent", data={"given": 1})
        assert world.standing(begun) == ["inner"]
        child = await called(world)
        assert child.state.parent == f"node:{world.letters(begun)}:{world.node(begun, 'inner')}"
        assert await world.data(child) == {"given": 1, "t_one": 1}
        await world.engine.complete_task(child.id, world.node(child, "ask"), ORIGIN, data={"said": "yes"})
        ended = await world.now(begun)
        assert ended.state.status == "completed"
        assert await world.data(ended) == {"given": 1, "t_one": 1, "said": "yes", "t_two": 1, "t_three": 1}


def same(direction: Any, flag: str) -> Mapping:
    return Mapping(direction, Value(flag, "flag"), flag)


@pytest.mark.req("O12")
@pytest.mark.parametrize(
    ("said", "given", "back"),
    [
        ({}, {"orch_a", "orch_b"}, {"orch_a": 2, "orch_b": 2}),
        ({"returns_all": False}, {"orch_a", "orch_b"}, {"orch_a": 1, "orch_b": 1}),
        ({"hands_all": False}, set(), {"orch_a": 2, "orch_b": 2}),
        ({"mappings": (same("output", "orch_b"),)}, {"orch_a", "orch_b"}, {"orch_a": 1, "orch_b": 2}),
        ({"mappings": (same("input", "orch_a"),)}, {"orch_a", "orch_b"}, {"orch_a": 2, "orch_b": 2}),
        (
            {"hands_all": False, "returns_all": False, "mappings": (same("input", "orch_a"), same("output", "orch_b"))},
            {"orch_a"},
            {"orch_a": 1, "orch_b": 2},
        ),
    ],
)  # fmt: skip
async def test_flags_go_and_come_as_the_call_says_and_data_always(
    store_url: str, said: dict[str, Any], given: set[str], back: dict[str, int]
) -> None:
    async with opened(store_url) as world:
        world.handlers.flags["t.two"] = {"orch_a": 2, "orch_b": 2}
        await world.deploy(CHILD, profile="open")
        await world.deploy(line("parent", call("inner", "child", **said)), profile="open")
        begun = await world.start("parent", flags={"orch_a": 1, "orch_b": 1}, data={"given": 1})
        child = await called(world)
        assert set(child.state.flags) == given
        await world.engine.complete_task(child.id, world.node(child, "ask"), ORIGIN, data={"said": "yes"})
        ended = await world.now(begun)
        assert (ended.state.status, ended.state.flags) == ("completed", back)
        assert await world.data(ended) == {"given": 1, "said": "yes", "t_two": 1}


@pytest.mark.req("O12")
async def test_what_an_interrupted_call_began_is_cancelled(store_url: str) -> None:
    parent = line(
        "parent", call("inner", "child"), more=(boundary("late", "inner", after("P1D")), service("b", "t.one")),
        flows=(flow("late", "b"), flow("b", "end")),
    )  # fmt: skip
    async with opened(store_url) as world:
        await world.deploy(CHILD, profile="open")
        await world.deploy(parent, profile="open")
        begun = await world.start("parent")
        child = await called(world)
        await world.sandbox.advance("P2D")
        assert (await world.now(child)).state.status == "cancelled"
        assert (await world.now(begun)).state.status == "completed"


@pytest.mark.req("O12")
async def test_a_cancelled_instance_cancels_what_it_called(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CHILD, profile="open")
        await world.deploy(PARENT, profile="open")
        begun = await world.start("parent")
        await world.engine.cancel(begun.id, ORIGIN)
        await world.sandbox.run_until_idle()
        assert (await called(world)).state.status == "cancelled"


@pytest.mark.req("O12")
async def test_a_called_process_that_is_not_there_is_an_incident_that_heals_by_a_retry(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CHILD, profile="open")
        await world.deploy(PARENT, profile="open")
        await world.engine.retire("child", 1, ORIGIN)
        begun = await world.start("parent")
        incident = begun.state.nodes[world.node(begun, "inner")].incident
        assert incident is not None and "'child'" in incident.text
        await world.deploy(CHILD, profile="open")
        await world.engine.retry_incident(begun.id, world.node(begun, "inner"), ORIGIN)
        await world.sandbox.run_until_idle()
        child = await called(world)
        await world.engine.complete_task(child.id, world.node(child, "ask"), ORIGIN)
        assert (await world.now(begun)).state.status == "completed"


@pytest.mark.req("V10", "O12")
async def test_a_call_of_what_is_not_deployed_is_refused_unless_it_comes_along(store_url: str) -> None:
    ping = line("ping", user("ask"), call("on", "pong"))
    pong = line("pong", user("ask"), call("back", "ping"))
    async with opened(store_url) as world:
        with pytest.raises(DefinitionError, match=r"BPM151.*calls 'pong', which is not known"):
            await world.deploy(ping, profile="open")
        assert await world.definitions.find("ping", ORIGIN) is None
        processes = Processes(world.sandbox.runtime, ORIGIN)
        with pytest.raises(DefinitionError, match="BPM151"):
            await processes.deploy_all([ping, CHILD], profile="open")
        made = await processes.deploy_all([ping, pong], profile="open")
        assert [each.process for each in made] == ["ping", "pong"]
        await world.engine.retire("pong", 1, ORIGIN)
        with pytest.raises(DefinitionError, match="BPM151"):
            await world.deploy(line("ping", user("other"), call("on", "pong")), profile="open")


CALLED = """<d:process id="q" isExecutable="true"><d:startEvent id="qs"/><d:endEvent id="qe"/>
<d:sequenceFlow id="qf" sourceRef="qs" targetRef="qe"/></d:process>"""
CALLER = """<d:startEvent id="s"/><d:callActivity id="c" calledElement="q"/><d:endEvent id="e"/>
<d:sequenceFlow id="f" sourceRef="s" targetRef="c"/><d:sequenceFlow id="g" sourceRef="c" targetRef="e"/>"""


@pytest.mark.req("V10", "O12")
async def test_a_call_of_what_is_in_the_same_file_is_refused_unless_that_is_deployed_as_well(store_url: str) -> None:
    text = in_process(CALLER, CALLED)
    both = read_model(text)
    async with opened(store_url) as world:
        processes = Processes(world.sandbox.runtime, ORIGIN)
        with pytest.raises(DefinitionError, match=r"BPM151.*calls 'q', which is in this file and not deployed"):
            await processes.deploy_all([both], process="p", profile="open")
        assert (await processes.propose(text, process="p", profile="open")).problems[0].code == "BPM151"
        assert (await processes.propose(text, profile="open")).problems == ()
        assert len(await processes.deploy_all([both], profile="open")) == 2
        await processes.deploy_all([both], process="p", profile="open")


async def test_a_thrown_message_reaches_who_waits_even_later_and_carries_what_is_named(store_url: str) -> None:
    sender = line(
        "sender", service("a", "t.one"), throw("tell", "m", properties={"payload": "t_one"}),
        messages=(message("m", key="k"),),
    )  # fmt: skip
    receiver = line("receiver", wait("hear", "m"), messages=(message("m", key="k"),))
    async with opened(store_url) as world:
        await world.deploy(sender)
        await world.deploy(receiver)
        await world.start("sender", data={"private": 1})
        late = await world.start("receiver")
        assert (late.state.status, await world.data(late)) == ("completed", {"t_one": 1})


async def test_a_process_starts_by_a_message_once_for_each_message_id(store_url: str) -> None:
    opening = Event(id="come", position="start", triggers=(MessageTrigger("m"),))
    started = line("started", opening, service("a", "t.one"), messages=(message("m"),))
    async with opened(store_url) as world:
        await world.deploy(started)
        sent = [await world.engine.publish("m", "c-7", ORIGIN, message_id="one", data={"x": 1}) for _ in range(2)]
        outcomes = [each.outcome for each in sent]
        assert outcomes == ["started", "duplicate"]
        await world.sandbox.run_until_idle()
        found = await world.instances.newest(ORIGIN, process="started")
        assert [await world.data(each) for each in found] == [{"x": 1, "t_one": 1}]


async def test_a_race_that_starts_a_process_begins_with_the_arm_that_came(store_url: str) -> None:
    race = Gateway(id="race", kind="event", is_instantiating=True)
    arms = (wait("left", "m"), wait("right", "n"))
    flows = (
        flow("race", "left"), flow("race", "right"), flow("left", "a"), flow("right", "b"), flow("a", "end"),
        flow("b", "end"),
    )  # fmt: skip
    nodes = (race, *arms, service("a", "t.one"), service("b", "t.two"), END)
    async with opened(store_url) as world:
        raced = model("raced", nodes, flows, messages=(message("m", key="k"), message("n", key="k")))
        await world.deploy(raced, profile="open")
        assert (await world.engine.publish("n", "k", ORIGIN, message_id="one")).outcome == "started"
        await world.sandbox.run_until_idle()
        assert world.handlers.runs == {"t.two": 1}


async def test_a_signal_is_heard_by_all_who_wait_and_starts_who_starts_by_it(store_url: str) -> None:
    hear = Event(id="hear", position="catch", triggers=(SignalTrigger("s"),))
    begin = Event(id="begin", position="start", triggers=(SignalTrigger("s"),))
    async with opened(store_url) as world:
        await world.deploy(line("listener", hear, signals=(signal("s"),)))
        await world.deploy(line("starter", begin, service("a", "t.one"), signals=(signal("s"),)))
        await world.deploy(line("shouter", throw_signal("shout", "s"), signals=(signal("s"),)))
        listeners = [await world.start("listener") for _ in range(3)]
        await world.start("shouter")
        assert {(await world.now(each)).state.status for each in listeners} == {"completed"}
        assert world.handlers.runs["t.one"] == 1


THROWN = 300
SHOUTS = f"""<d:startEvent id="s"/>
<d:subProcess id="many">
  <d:multiInstanceLoopCharacteristics isSequential="true"><d:loopCardinality>{THROWN}</d:loopCardinality>
  </d:multiInstanceLoopCharacteristics>
  <d:startEvent id="is"/><d:endEvent id="ie"><d:signalEventDefinition signalRef="sig"/></d:endEvent>
  <d:sequenceFlow id="if" sourceRef="is" targetRef="ie"/></d:subProcess>
<d:endEvent id="e"/><d:sequenceFlow id="f" sourceRef="s" targetRef="many"/>
<d:sequenceFlow id="g" sourceRef="many" targetRef="e"/>"""


async def test_a_history_is_not_read_once_for_each_signal_that_one_command_throws(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[Any] = []
    history, signal = InstanceReader.history, Messages.signal
    monkeypatch.setattr(InstanceReader, "history", lambda *told: reads.append("history") or history(*told))
    monkeypatch.setattr(Messages, "signal", lambda *told, **more: reads.append("signal") or signal(*told, **more))
    async with opened(store_url) as world:
        await world.deploy(read_model(in_process(SHOUTS, '<d:signal id="sig" name="sig"/>')), profile="open")
        assert (await world.start("p")).state.status == "completed"
    assert reads.count("signal") == THROWN
    assert reads.count("history") == 1


@pytest.mark.req("O12")
async def test_suspending_holds_what_is_called_however_deep_and_resuming_lets_it_go_on(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("inmost", pause("sleep", "P1D"), service("b", "t.two")), profile="open")
        await world.deploy(line("child", call("deeper", "inmost")), profile="open")
        await world.deploy(PARENT, profile="open")
        begun = await world.start("parent")
        await world.engine.suspend(begun.id, ORIGIN, reason="holiday")
        await world.sandbox.advance("P2D")
        assert world.handlers.runs["t.two"] == 0
        for process in ("child", "inmost"):
            (held,) = await world.instances.newest(ORIGIN, process=process)
            assert held.state.status == "suspended"
            assert (await world.entries(held)).count("InstanceSuspended") == 1
        await world.engine.resume(begun.id, ORIGIN)
        ended = await world.now(begun)
        assert ended.state.status == "completed"
        assert world.handlers.runs["t.two"] == 1


@pytest.mark.req("O12")
async def test_what_was_suspended_for_itself_stays_so_when_its_caller_goes_on(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CHILD, profile="open")
        await world.deploy(PARENT, profile="open")
        begun = await world.start("parent")
        child = await called(world)
        await world.engine.suspend(child.id, ORIGIN, reason="its own")
        await world.engine.suspend(begun.id, ORIGIN)
        await world.engine.resume(begun.id, ORIGIN)
        assert (await world.now(begun)).state.status == "active"
        assert (await called(world)).state.status == "suspended"
        await world.engine.resume(child.id, ORIGIN)
        assert (await called(world)).state.status == "active"


@pytest.mark.req("O12")
async def test_what_is_suspended_for_itself_while_its_caller_holds_it_stays_so_when_that_goes_on(
    store_url: str,
) -> None:
    async with opened(store_url) as world:
        await world.deploy(CHILD, profile="open")
        await world.deploy(PARENT, profile="open")
        begun = await world.start("parent")
        held = await world.engine.suspend(begun.id, ORIGIN)
        child = await called(world)
        for _ in range(2):
            await world.engine.suspend(child.id, ORIGIN, reason="its own")
        since = (await called(world)).state.suspended_at
        assert (await world.entries(child)).count("InstanceSuspended") == 2, "once with its caller, once for itself"
        assert since == child.state.suspended_at >= held.state.suspended_at
        await world.engine.resume(begun.id, ORIGIN)
        assert (await called(world)).state.status == "suspended"
        await world.engine.resume(child.id, ORIGIN)
        assert (await called(world)).state.status == "active"
        assert (await verify_store(world.sandbox, {}, is_dry=True)).findings == []


@pytest.mark.req("O12")
@pytest.mark.parametrize("goes_on", [False, True], ids=["nobody let it go on", "it was let go on by itself"])
async def test_a_process_that_began_while_its_caller_was_suspended_is_held_after_a_crash_as_well(
    store_url: str, monkeypatch: pytest.MonkeyPatch, goes_on: bool
) -> None:
    async with opened(store_url) as world:
        await world.deploy(CHILD, profile="open")
        await world.deploy(line("parent", call("inner", "child")), profile="open")
        start = Instances.start

        async def late(self: Instances, request: StartRequest, *words: Any, **more: Any) -> Any:
            if request.parent:
                await world.engine.suspend(request.parent.split(":")[1], ORIGIN)
            return await start(self, request, *words, **more)

        async def cut_off(*_: Any) -> bool:
            return False

        with monkeypatch.context() as broken:
            broken.setattr(Instances, "start", late)
            broken.setattr(Calls, "_hold", cut_off)
            broken.setattr(Calls, "hold", cut_off)
            begun = await world.start("parent")
        child = await called(world)
        assert (begun.state.status, child.state.status) == ("suspended", "active")
        if goes_on:
            await world.engine.suspend(child.id, ORIGIN)
            await world.engine.resume(child.id, ORIGIN)
    async with opened(store_url) as world:
        await world.sandbox.run_until_idle()
        assert (await called(world)).state.status == ("active" if goes_on else "suspended")
        await world.engine.resume(begun.id, ORIGIN)
        await world.sandbox.run_until_idle()
        assert (await called(world)).state.status == "active"
        assert (await verify_store(world.sandbox, {}, is_dry=True)).findings == []


@pytest.mark.req("O12")
async def test_a_call_that_is_reached_while_suspended_begins_when_it_goes_on(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CHILD, profile="open")
        await world.deploy(line("parent", user("first"), call("inner", "child")), profile="open")
        begun = await world.start("parent")
        await world.engine.modify(begun.id, ORIGIN, start=["inner"])
        await world.engine.suspend(begun.id, ORIGIN)
        await world.now(begun)
        held = await world.instances.newest(ORIGIN, process="child")
        assert all(each.state.status == "suspended" for each in held)
        await world.engine.resume(begun.id, ORIGIN)
        await world.now(begun)
        assert (await called(world)).state.status == "active"
