"""Workers: abandoned jobs are taken over, a job waits for who has its verb, and nothing is done twice."""

from __future__ import annotations

import pytest

from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import load_text
from tests.engines.embedded.engine_world import ORIGIN, VERBS, Handlers, opened
from tests.engines.embedded.process_models import line, pause, service

pytestmark = pytest.mark.both_stores

WITHOUT_TWO = VERBS.replace("- {name: t.two, execution: {kind: sync}}\n", "").replace(
    "t.one, t.two, t.contract", "t.one"
)


@pytest.mark.req("V25")
async def test_a_job_whose_verb_no_worker_has_becomes_an_incident_and_heals_when_one_comes(store_url: str) -> None:
    clock, handlers = VirtualSources(), Handlers()
    async with opened(store_url, handlers, clock=clock) as world:
        await world.deploy(line("p", pause("sleep", "P1D"), service("a", "t.one"), service("b", "t.two")))
        begun = await world.start("p")
    async with opened(store_url, handlers, clock=clock, verbs=WITHOUT_TWO) as world:
        await world.sandbox.advance("P2D")
        stuck = await world.now(begun)
        assert handlers.runs == {"t.one": 1}
        incident = stuck.state.nodes[world.node(stuck, "b")].incident
        assert incident is not None and (incident.code, "'t.two'" in incident.text) == ("definition.missing", True)
    async with opened(store_url, handlers, clock=clock) as world:
        await world.sandbox.runtime.check()
        ended = await world.now(begun)
        assert (ended.state.status, await world.data(ended)) == ("completed", {"t_one": 1, "t_two": 1})


@pytest.mark.req("V25")
async def test_a_job_is_run_by_the_version_of_its_verb_that_was_pinned(store_url: str) -> None:
    clock, handlers = VirtualSources(), Handlers()
    newer = VERBS + "- {name: t.one, version: 2, description: newer, execution: {kind: sync}}\n"
    async with opened(store_url, handlers, clock=clock) as world:
        await world.deploy(line("p", pause("sleep", "P1D"), service("a", "t.one")))
        begun = await world.start("p")
    versions: list[int] = []

    async def plain(call: object) -> dict[str, int]:
        versions.append(call.version)  # type: ignore[attr-defined]
        return {}

    handlers.plain = plain  # type: ignore[method-assign, assignment]
    async with opened(store_url, handlers, clock=clock, verbs=newer) as world:
        await world.sandbox.advance("P2D")
        assert (await world.now(begun)).state.status == "completed"
        assert (await world.start("p")).state.process_version == 1
        redeployed = await world.deploy(line("p", pause("sleep", "P1D"), service("a", "t.one")))
        assert redeployed.version == 2, "the same model bound to another version of a verb is another version"
        await world.start("p")
        await world.sandbox.advance("P2D")
    assert sorted(versions) == [1, 1, 2]


@pytest.mark.req("V14")
async def test_a_cautious_job_cut_off_while_it_runs_stops_for_a_person(store_url: str) -> None:
    from perdure.testing.fault_injection import Crash, FaultyDriver  # noqa: PLC0415
    from perdure.testing.sandbox import Sandbox, quiet_driver  # noqa: PLC0415

    clock, handlers, catalogue = VirtualSources(), Handlers(), load_text(VERBS)
    async with opened(store_url, handlers, clock=clock) as world:
        await world.deploy(line("p", service("a", "t.cautious")))
    faulty = FaultyDriver(quiet_driver(store_url), crash_at=2, side="before")
    sandbox = await Sandbox.start(
        store_url, definitions=catalogue, handlers=handlers.bound(catalogue), clock=clock, driver=faulty
    )
    begun = await sandbox.runtime.engine.start("p", ORIGIN)
    with pytest.raises(Crash):
        await sandbox.run_until_idle()
    await faulty.abandon()
    async with opened(store_url, handlers, clock=clock) as world:
        stuck = await world.now(begun)
        incident = stuck.state.nodes[world.node(stuck, "a")].incident
        assert incident is not None and "interrupted" in incident.text
        assert handlers.runs["t.cautious"] == 1
