"""The major defects a close relative of this engine was found to have, each shown not to be here."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from perdure.app.configuration import server
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.xml import read_model
from perdure.errors import QuarantinedError, RejectedError
from perdure.journal import Origin
from perdure.sources import SECOND, id_text
from perdure.testing import postgres_server
from perdure.testing.scenarios import scenario as v
from perdure.testing.scenarios.embedded_world import EmbeddedWorld
from perdure.testing.scenarios.scenario_player import play
from perdure.verbs import Call
from tests import conftest
from tests.conformance.stores import Raw
from tests.house.tree import ROOT
from tests.postmortem.world import LINE, PERSON, TIMER, scenario_of

START = v.Start()
WAIT = """
== wait
start s
catch c message paid key=orch_case
service a work.verb
end e
s > c > a > e
"""


async def deployed(world: EmbeddedWorld, tenant: str = "") -> Origin:
    origin = replace(world.origin, tenant=tenant) if tenant else world.origin
    before, world.origin = world.origin, origin
    path = world._scenario.model
    assert await world.deploy(read_model(path.read_bytes(), str(path))) is None
    world.origin = before
    return origin


async def test_m1_eight_starts_at_once_under_one_key_are_one_instance(tmp_path: Path, store_url: str) -> None:
    async with EmbeddedWorld.open(scenario_of(LINE, tmp_path), store_url) as world:
        await deployed(world)
        starts = [world.engine.start("line", world.origin, idempotency_key="once") for _ in range(8)]
        made = await asyncio.gather(*starts)
        await world.sandbox.run_until_idle()
        assert len({each.id for each in made}) == 1
        assert len(await world.instances.newest(world.origin)) == 1
        assert world.trail.ran == ["first.verb", "second.verb"]


@pytest.mark.req("P7")
async def test_m2_index_rows_are_derived_and_a_wrong_one_is_found(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'store.db'}"
    scenario = scenario_of(PERSON, tmp_path, START)
    async with EmbeddedWorld.open(scenario, store) as world:
        await play(scenario, world)
        assert await world.audit() == []
        with Raw(store) as raw:
            raw("UPDATE parked SET name = 'another'")
        assert any("parked" in finding for finding in await world.audit())
        with Raw(store) as raw:
            raw("UPDATE parked SET name = 'u'")
        assert await world.audit() == []


async def test_m3_a_retry_keeps_attempt_due_time_and_error_and_follows_the_hint(tmp_path: Path) -> None:
    failing = (v.Behaviour(fail="transient_external", text="line is down"), v.Behaviour())
    policy = replace(v.AT_ONCE, base_delay_seconds=600.0, max_delay_seconds=600.0)
    scenario = scenario_of(LINE, tmp_path, START, verbs={"first.verb": failing}, retry=policy)
    async with EmbeddedWorld.open(scenario) as world:
        await play(scenario, world)
        (id,) = world.trail.started
        (failed,) = [entry for entry in world.trail.entries[id] if isinstance(entry, e.JobFailed)]
        assert (failed.attempt, failed.failure.message) == (1, "line is down")
        assert failed.retry_at - failed.at == 600 * SECOND
        await world.crash()
        await world.advance(599)
        assert world.trail.ran == []
        await world.advance(1)
        assert world.trail.ran == ["first.verb", "second.verb"]


async def test_m3_a_message_id_is_remembered_long_after_a_day(tmp_path: Path) -> None:
    scenario = scenario_of(WAIT, tmp_path, flags={"orch_case": "c1"})
    async with EmbeddedWorld.open(scenario) as world:
        await deployed(world)
        await world.start("wait", v.Start())
        await world.publish(v.Message(name="paid", key="c1", id="m1"))
        await world.advance(30 * 86_400)
        await world.start("wait", v.Start())
        outcome = await world.engine.publish("paid", "c1", world.origin, message_id="m1")
        assert getattr(outcome, "outcome", outcome) == "duplicate"
        assert [state.status for state in (await world.states()).values()] == ["completed", "active"]


async def test_m4_a_handler_runs_outside_every_transaction(tmp_path: Path, store_url: str) -> None:
    scenario = scenario_of(LINE, tmp_path, START)
    written: list[str] = []
    async with EmbeddedWorld.open(scenario, store_url) as world:
        inner = world._handler

        def watched(type: str) -> Any:
            stub = inner(type)

            async def handler(call: Call) -> Any:
                if type == "first.verb" and not written:
                    written.append("begun")
                    other = await world.engine.start("line", world.origin, idempotency_key="from inside")
                    written.append(id_text(other.id))
                return await stub(call)

            return handler

        world._handler = watched  # type: ignore[method-assign]
        await world.crash()
        await play(scenario, world)
        assert len(written) == 2
        assert [state.status for state in (await world.states()).values()] == ["completed", "completed"]


@pytest.mark.req("V31")
async def test_m5_a_message_stays_with_its_tenant(tmp_path: Path, store_url: str) -> None:
    scenario = scenario_of(WAIT, tmp_path, flags={"orch_case": "c1"})
    async with EmbeddedWorld.open(scenario, store_url) as world:
        ours, theirs = await deployed(world), await deployed(world, f"{world.origin.tenant}-other")
        mine = await world.engine.start("wait", ours)
        other = await world.engine.start("wait", theirs)
        await world.engine.publish("paid", "c1", ours, message_id="m1")
        await world.sandbox.run_until_idle()
        assert (await world.instances.read(id_text(mine.id), ours)).state.status == "completed"
        assert (await world.instances.read(id_text(other.id), theirs)).state.status == "active"
        with pytest.raises(RejectedError):
            await world.instances.read(id_text(other.id), ours)
        await world.engine.cancel(id_text(other.id), theirs)


@pytest.mark.req("V21")
async def test_m6_what_is_due_first_goes_first_whosever_it_is(tmp_path: Path) -> None:
    scenario = scenario_of(TIMER, tmp_path)
    async with EmbeddedWorld.open(scenario) as world:
        origins = [await deployed(world, f"scenario-tenant-{number}") for number in range(3)]
        order: list[str] = []
        world.sandbox.runtime.kernel.listen(
            lambda aggregate, entries: order.extend(
                aggregate.tenant for each in entries if type(each) is e.JobCompleted
            )
        )
        for turn in range(2):
            for origin in reversed(origins):
                await world.engine.start("timer", origin)
                await world.advance(60)
            assert turn in (0, 1)
        await world.advance(2 * 3600)
        assert order == [origin.tenant for origin in reversed(origins)] * 2


async def test_m7_an_incident_is_not_an_end_and_a_reader_misses_nothing(tmp_path: Path) -> None:
    broken = (v.Behaviour(fail="permanent_contract"), v.Behaviour())
    scenario = scenario_of(LINE, tmp_path, START, verbs={"first.verb": broken})
    async with EmbeddedWorld.open(scenario) as world:
        await play(scenario, world)
        (id,) = world.trail.started
        before = await world.instances.history(id_text(id), world.origin)
        (state,) = (await world.states()).values()
        assert state.status == "active"
        (stuck,) = [node.number for node in state.nodes.values() if node.incident is not None]
        await world.crash()
        await world.retry(id, stuck, v.Retry(element="a"))
        after = await world.instances.history(id_text(id), world.origin, after=before[-1].sequence)
        whole = await world.instances.history(id_text(id), world.origin)
        assert [*before, *after] == whole
        assert [type(entry) for each in after for entry in each.entries][-1] is e.InstanceEnded


@pytest.mark.req("P7")
@pytest.mark.parametrize("column", ["state", "head"])
async def test_m9_a_changed_byte_is_found_when_it_is_read(column: str, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'store.db'}"
    scenario = scenario_of(PERSON, tmp_path, START)
    async with EmbeddedWorld.open(scenario, store) as world:
        await play(scenario, world)
        (id,) = world.trail.started
        await world.crash()
        with Raw(store) as raw:
            value = bytearray(raw(f"SELECT {column} FROM aggregate WHERE id = ?", id)[0][0])
            value[-1] ^= 1
            raw(f"UPDATE aggregate SET {column} = ? WHERE id = ?", bytes(value), id)
        world.sandbox.runtime.kernel.forget()
        with pytest.raises(QuarantinedError):
            await world.instances.read(id_text(id), world.origin)
        world.trail.started.clear()


def test_m10_nothing_listens_beyond_this_machine() -> None:
    everywhere = ".".join("0" * 4)
    sources = [path for path in (ROOT / "src").rglob("*.py") if everywhere in path.read_text(encoding="utf-8")]
    assert sources == [Path(server.__file__)]
    # A server may be told to; without authentication it refuses.
    with pytest.raises(RejectedError):
        server.check_guarded(server.ServerConfig(host=everywhere))
    server.check_guarded(server.ServerConfig(host=everywhere, authentication=("keys",)))
    assert "127.0.0.1" in Path(postgres_server.__file__).read_text(encoding="utf-8")


def test_m10_where_services_are_required_a_missing_one_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_REQUIRE_SERVICES", "1")
    with pytest.raises(pytest.fail.Exception):
        conftest.unavailable("none is here")
    monkeypatch.delenv("PERDURE_REQUIRE_SERVICES")
    with pytest.raises(pytest.skip.Exception):
        conftest.unavailable("none is here")
