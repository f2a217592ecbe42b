"""The ten critical defects a close relative of this engine was found to have, each shown not to be here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.model import Task
from perdure.bpmn.xml import read_model
from perdure.errors import QuarantinedError, RejectedError
from perdure.journal import Origin
from perdure.sources import id_text, parse_id
from perdure.testing.fault_injection import Side
from perdure.testing.scenarios import scenario as v
from perdure.testing.scenarios.embedded_world import EmbeddedWorld
from perdure.testing.scenarios.scenario_player import play
from perdure.testing.scenarios.stub_deployment import deployed_from
from perdure.verbs import Call
from tests.conformance.stores import Raw
from tests.postmortem.world import EVERYTHING, HOURLY, LINE, PERSON, TIMER, scenario_of, survived

START = v.Start()
BOTH: tuple[Side, ...] = ("before", "after")


async def test_c1_the_machine_alone_replays_what_the_engine_recorded(tmp_path: Path) -> None:
    paid = v.Message(name="paid", key="c1", id="m1")
    scenario = scenario_of(
        EVERYTHING, tmp_path, START, paid, v.Advance(seconds=7200), flags={"orch_case": "c1"},
        verbs={"work.verb": (v.Behaviour(fail="transient_external"), v.Behaviour())},
    )  # fmt: skip
    async with EmbeddedWorld.open(scenario) as world:
        await play(scenario, world)
        machine = world.sandbox.runtime.kernel.machine("instance")
        assert type(machine) is InstanceMachine
        for id, stored in (await world.states()).items():
            state: Any = None
            for entry in world.trail.entries[id]:
                state = machine.apply(state, entry)
            assert machine.encode(state) == machine.encode(stored)


@pytest.mark.req("V21")
@pytest.mark.parametrize("side", BOTH)
async def test_c2_an_ordinary_timer_is_committed_with_the_wait_and_fires_once_after_any_crash(
    side: Side, tmp_path: Path
) -> None:
    scenario = scenario_of(TIMER, tmp_path, START, v.Advance(seconds=3600), v.Advance(seconds=3600))
    commits = await commits_of(scenario)
    for number in range(1, commits + 1):
        outcome, _, findings = await survived(scenario, number, side)
        assert (outcome.actual.state, outcome.actual.ran) == ("completed", ["work.verb"]), number
        assert not findings


async def test_c2_the_commit_that_parks_holds_the_timer(tmp_path: Path) -> None:
    async with EmbeddedWorld.open(scenario_of(TIMER, tmp_path, START)) as world:
        await deployed(world)
        started = await world.engine.start("timer", world.origin)
        records = await world.instances.history(id_text(started.id), world.origin)
        assert [type(entry) for entry in records[0].entries if isinstance(entry, e.Entered | e.Armed)] == [
            e.Entered, e.Armed,
        ]  # fmt: skip
        due = await world.sandbox.runtime.store.due_timers(0, b"", 2**62, 10)
        assert [(timer.aggregate, timer.kind) for timer in due] == [(started.id, "watch")]


async def test_c2_a_timer_that_fires_twice_or_with_an_old_time_counts_once(tmp_path: Path) -> None:
    async with EmbeddedWorld.open(scenario_of(HOURLY, tmp_path, START)) as world:
        await play(world._scenario, world)
        runtime = world.sandbox.runtime
        (first,) = await runtime.store.due_timers(0, b"", 2**62, 10)
        await world.advance(3600)
        for _ in range(3):
            await runtime.upkeep.fire(first)  # its row is gone, or another time stands under its name
            await world.sandbox.run_until_idle()
        assert world.trail.ran == ["work.verb"]
        await world.advance(3600)
        assert world.trail.ran == ["work.verb", "work.verb"]


@pytest.mark.req("X7")
@pytest.mark.parametrize("side", BOTH)
async def test_c3_no_crash_leaves_a_result_acknowledged_and_its_instance_stuck(side: Side, tmp_path: Path) -> None:
    scenario = scenario_of(LINE, tmp_path, START, verbs={"first.verb": v.Behaviour(data={"x": 1})})
    commits = await commits_of(scenario)
    assert commits >= 4
    for number in range(1, commits + 1):
        outcome, crashes, findings = await survived(scenario, number, side)
        assert crashes == 1, number
        assert (outcome.actual.state, outcome.actual.ran) == ("completed", ["first.verb", "second.verb"]), number
        assert outcome.actual.data == {"x": 1}
        assert not findings


async def test_c4_a_conflict_is_decided_again_and_never_taken_for_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perdure.testing.sandbox.sandbox_identity", lambda: None)  # two processes, both alive
    scenario = scenario_of(PERSON, tmp_path, START)
    store = f"sqlite:///{tmp_path / 'shared.db'}"
    async with EmbeddedWorld.open(scenario, store) as one, EmbeddedWorld.open(scenario, store) as two:
        two.origin = one.origin
        await deployed(one)
        held = await one.engine.start("person", one.origin)
        id, node = id_text(held.id), task_of(held.state)
        await two.instances.read(id, one.origin)
        await one.engine.complete_task(id, node, Origin(one.origin.tenant, "ada"))
        with pytest.raises(RejectedError, match="completed"):
            await two.engine.complete_task(id, node, Origin(one.origin.tenant, "bob"), data={"late": True})
        completed = [entry for each in await one.instances.history(id, one.origin) for entry in each.entries]
        assert [entry.by for entry in completed if isinstance(entry, e.TaskCompleted)] == ["ada"]
        assert "late" not in await one.data(parse_id(id))


async def test_c5_the_intent_is_committed_before_the_handler_runs_and_a_rerun_has_the_same_key(tmp_path: Path) -> None:
    scenario = scenario_of(LINE, tmp_path, START, verbs={"first.verb": v.Behaviour(takes_seconds=60)})
    keys: list[tuple[str, bool]] = []
    async with EmbeddedWorld.open(scenario) as world:
        inner = world._handler

        def watched(type: str) -> Any:
            stub = inner(type)

            async def handler(call: Call) -> Any:
                held = await world.instances.read(call.call_id, world.origin)
                keys.append((call.idempotency_key, any(node.job is not None for node in held.state.nodes.values())))
                return await stub(call)

            return handler

        world._handler = watched  # type: ignore[method-assign]
        await world.crash()  # reopened with handlers that are watched
        await play(scenario, world)
        await world.crash()
        await world.advance(120)
        assert [key for key, _ in keys[:2]] == [keys[0][0]] * 2
        assert all(is_committed for _, is_committed in keys)
        assert world.trail.ran == ["first.verb", "second.verb"]


@pytest.mark.req("X7")
async def test_c6_result_payload_flags_token_and_the_next_intent_are_one_commit(tmp_path: Path) -> None:
    does = v.Behaviour(data={"x": 1}, flags={"orch_x": 1})
    scenario = scenario_of(LINE, tmp_path, START, verbs={"first.verb": does})
    async with EmbeddedWorld.open(scenario) as world:
        await play(scenario, world)
        (id,) = world.trail.started
        records = await world.instances.history(id_text(id), world.origin)
        (ended,) = [each.entries for each in records if each.entries[0] == _first_completion(each.entries)]
        kinds = [type(entry) for entry in ended]
        assert kinds == [e.JobCompleted, e.FlagsWritten, e.Left, e.Entered, e.JobMade, e.JobStarted]


@pytest.mark.req("V23")
@pytest.mark.parametrize("side", BOTH)
async def test_c7_cancel_incident_race_and_child_are_never_torn(side: Side, tmp_path: Path) -> None:
    scenario = scenario_of(
        EVERYTHING, tmp_path, START, v.Message(name="paid", key="c1", id="m1"), v.Retry(element="a"),
        v.Cancel(), flags={"orch_case": "c1"}, verbs={"work.verb": v.Behaviour(fail="permanent_contract")},
    )  # fmt: skip
    commits = await commits_of(scenario)
    assert commits >= 6
    for number in range(1, commits + 1):
        outcome, _, findings = await survived(scenario, number, side)
        assert (outcome.actual.state, outcome.actual.parked, outcome.actual.incidents) == ("cancelled", [], 0), number
        assert not findings, (number, findings)


async def test_c8_a_late_riser_can_write_nothing(tmp_path: Path) -> None:
    scenario = scenario_of(LINE, tmp_path, START, verbs={"first.verb": v.Behaviour(takes_seconds=60)})
    async with EmbeddedWorld.open(scenario) as old:
        await deployed(old)
        held = await old.engine.start("line", old.origin)
        await old.sandbox.run_until_idle()
        before = old.sandbox.runtime.lease.number
        # Another process finds the first one gone, though it only sleeps, and takes over what it held.
        new = EmbeddedWorld(scenario, old._url, old._catalogue, old._types)
        new.origin = old.origin
        await new._begin()
        await new._catch_up()
        await new.sandbox.run_until_idle()
        await new.advance(60)
        assert (await new.instances.read(id_text(held.id), new.origin)).state.status == "completed"
        history = await new.instances.history(id_text(held.id), new.origin)
        old._clock.move_to(new._clock.now())
        await old._clock.until_asleep(old.sandbox.runtime.conductor.tasks)
        again = await new.instances.history(id_text(held.id), new.origin)
        assert again == history
        workers = [entry.worker for each in history for entry in each.entries if isinstance(entry, e.JobStarted)]
        assert workers[0] == before
        assert workers[-1] != before
        await new.close()


@pytest.mark.req("V25")
async def test_c9_policies_and_bindings_are_part_of_what_is_hashed(tmp_path: Path) -> None:
    scenario = scenario_of(LINE, tmp_path, START)
    model = read_model(scenario.model.read_bytes(), "line.bpmn")
    process = model.definitions.executable()[0]
    patient = replace(scenario, retry=replace(scenario.retry, max_attempts=9))
    renamed = replace(process, body=replace(process.body, nodes=tuple(
        replace(node, type="other.verb") if isinstance(node, Task) and node.id == "a" else node
        for node in process.body.nodes
    )))  # fmt: skip
    async with EmbeddedWorld.open(scenario) as world:
        hashes = []
        for asked, how in ((process, scenario), (process, patient), (renamed, scenario), (process, scenario)):
            given = deployed_from(model.definitions, asked, how, {})
            made = await world.engine.deploy(model, world.origin, process="line", profile="open", deployed=given)
            hashes.append((made.version, made.hash))
        assert [version for version, _ in hashes] == [1, 2, 3, 1]
        assert len({hash for _, hash in hashes}) == 3


async def test_c9_other_bytes_under_a_known_hash_are_an_error(tmp_path: Path) -> None:
    scenario = scenario_of(LINE, tmp_path, START)
    store = f"sqlite:///{tmp_path / 'store.db'}"
    async with EmbeddedWorld.open(scenario, store) as world:
        await deployed(world)
        await world.crash()
        with Raw(store) as raw:
            raw("UPDATE payload SET stored = CAST(replace(CAST(stored AS TEXT), 'second.verb', 'other!.verb') AS BLOB)")
        with pytest.raises(QuarantinedError):
            await world.engine.start("line", world.origin)
        world._deployed.clear()


@pytest.mark.req("P7")
async def test_c10_the_same_seed_gives_the_same_journal_and_the_journal_gives_the_state(tmp_path: Path) -> None:
    paid = v.Message(name="paid", key="c1", id="m1")
    scenario = scenario_of(EVERYTHING, tmp_path, START, paid, v.Advance(seconds=7200), flags={"orch_case": "c1"})
    journals = []
    for _ in range(2):
        async with EmbeddedWorld.open(scenario) as world:
            world.origin = Origin("scenario-same", "scenario")
            await play(scenario, world)
            machine = InstanceMachine({})
            for id, state in (await world.states()).items():
                replayed = None
                for entry in world.trail.entries[id]:
                    replayed = machine.apply(replayed, entry)
                assert replayed is not None
                assert machine.encode(replayed) == machine.encode(state)
            store = world.sandbox.runtime.store
            journals.append([row.body for id in world.trail.started for row in await store.records(id)])
            assert await world.audit() == []
    assert journals[0] == journals[1]


# --- what they share -------------------------------------------------------------------------------------------------


async def commits_of(scenario: v.Scenario) -> int:
    """How many commits the scenario takes without a crash."""
    async with EmbeddedWorld.open(scenario) as world:
        await play(scenario, world)
        assert world.driver is not None
        return len(world.driver.commits_seen)


async def deployed(world: EmbeddedWorld) -> None:
    path = world._scenario.model
    assert await world.deploy(read_model(path.read_bytes(), str(path))) is None


def _first_completion(entries: tuple[Any, ...]) -> Any:
    found = (entry for entry in entries if isinstance(entry, e.JobCompleted) and entry.verb == "first.verb")
    return next(found, None)


def task_of(state: Any) -> int:
    return next(_tasks(state))


def _tasks(state: Any) -> Iterator[int]:
    yield from (node.number for node in state.nodes.values() if node.kind == "task")
