"""Jobs of migrated instances: each is of the verb its task has now, and none is lost, doubled or left alone."""

from __future__ import annotations

import asyncio

import pytest

from perdure.bpmn.model import Model
from perdure.errors import RejectedError
from perdure.kernel.kernel import Aggregate
from perdure.processes.plan_cache import Definition
from perdure.testing.fault_injection import FaultyDriver
from perdure.testing.sandbox import Sandbox, quiet_driver
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import Call, load_text
from tests.engines.embedded.engine_world import ORIGIN, VERBS, Handlers, World, opened
from tests.engines.embedded.process_models import line, message, pause, service, wait

LATER = line("p", service("a", "t.two"), service("b", "t.three"))


class Slow(Handlers):
    """Of a verb that is `held`, runs take until someone lets them go."""

    def __init__(self, held: str) -> None:
        super().__init__()
        self.held = held
        self.begun, self.released = asyncio.Event(), asyncio.Event()

    async def plain(self, call: Call):  # type: ignore[no-untyped-def]
        if call.verb == self.held:
            self.begun.set()
            await self.released.wait()
        return await super().plain(call)


@pytest.mark.req("O10")
async def test_a_job_stuck_under_the_old_verb_is_retried_as_the_new_one(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", service("a", "t.contract")))
        begun = await world.start("p")
        await world.deploy(LATER)
        for dry_run in (True, False):
            plan = await world.engine.migrate(begun.id, ORIGIN, dry_run=dry_run)
            (new,) = plan.new_verbs
            assert (new.element, new.before, new.after, new.is_running) == ("a", "t.contract v1", "t.two v1", False)
        await world.engine.retry_incident(begun.id, world.node(begun, "a"), ORIGIN)
        ended = await world.now(begun)
        assert (ended.state.status, await world.data(ended)) == ("completed", {"t_two": 1, "t_three": 1})


@pytest.mark.req("O10")
async def test_a_job_that_waits_to_be_tried_again_is_tried_as_the_new_verb_with_all_its_attempts(
    store_url: str,
) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", service("a", "t.flaky")))
        begun = await world.start("p")
        await world.deploy(LATER)
        await world.engine.migrate(begun.id, ORIGIN)
        job = (await world.instances.read(begun.id, ORIGIN)).state.nodes[world.node(begun, "a")].job
        assert job is not None and (job.type, job.attempt, job.before) == ("t.two", 1, 1)
        await world.sandbox.advance("PT1S")
        ended = await world.now(begun)
        assert (ended.state.status, world.handlers.runs) == ("completed", {"t.flaky": 1, "t.two": 1, "t.three": 1})
        assert world.handlers.keys["t.flaky"] == world.handlers.keys["t.two"], "it is the same execution of the task"


@pytest.mark.req("O10")
async def test_a_job_under_way_ends_as_the_verb_it_began_as(store_url: str) -> None:
    handlers = Slow("t.one")
    async with opened(store_url, handlers) as world:
        await world.deploy(line("p", service("a", "t.one")))
        begun = await world.engine.start("p", ORIGIN)
        await handlers.begun.wait()
        await world.deploy(LATER)
        plan = await world.engine.migrate(begun.id, ORIGIN)
        assert [(each.after, each.is_running) for each in plan.new_verbs] == [("t.two v1", True)]
        handlers.released.set()
        ended = await world.now(begun)
        assert (ended.state.status, await world.data(ended)) == ("completed", {"t_one": 1, "t_three": 1})


async def cut_off(
    store_url: str, handlers: Slow, clock: VirtualSources, to: Model = LATER, mapping: dict[str, str] | None = None
) -> Aggregate:
    """An instance that was migrated while its job ran in a process that is gone now."""
    handlers.begun = asyncio.Event()
    faulty, catalogue = FaultyDriver(quiet_driver(store_url), 0, "before"), load_text(VERBS)
    sandbox = await Sandbox.start(
        store_url, definitions=catalogue, handlers=handlers.bound(catalogue), clock=clock, driver=faulty
    )
    world = World(sandbox, handlers)
    await world.deploy(line("p", service("a", handlers.held)))
    begun = await world.engine.start("p", ORIGIN)
    await handlers.begun.wait()
    await world.deploy(to)
    await world.engine.migrate(begun.id, ORIGIN, mapping=mapping)
    await faulty.abandon()
    return begun


@pytest.mark.req("O10", "V14")
async def test_a_job_cut_off_after_a_migration_is_given_again_as_the_new_verb(store_url: str) -> None:
    clock, handlers = VirtualSources(), Slow("t.one")
    begun = await cut_off(store_url, handlers, clock)
    async with opened(store_url, handlers, clock=clock) as world:
        ended = await world.now(begun)
        assert (ended.state.status, await world.data(ended)) == ("completed", {"t_two": 1, "t_three": 1})


@pytest.mark.req("O10", "V14")
async def test_a_cautious_job_cut_off_after_a_migration_stops_for_a_person_whatever_the_new_verb_says(
    store_url: str,
) -> None:
    clock, handlers = VirtualSources(), Slow("t.cautious")
    begun = await cut_off(store_url, handlers, clock)
    async with opened(store_url, handlers, clock=clock) as world:
        stuck = await world.now(begun)
        incident = stuck.state.nodes[world.node(stuck, "a")].incident
        assert incident is not None and incident.code == "job.interrupted"
        await world.engine.retry_incident(begun.id, world.node(stuck, "a"), ORIGIN)
        assert await world.data(await world.now(begun)) == {"t_two": 1, "t_three": 1}


async def test_a_job_that_its_definition_binds_to_nothing_is_an_incident_and_not_left_alone(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, handlers = VirtualSources(), Slow("t.one")
    begun = await cut_off(store_url, handlers, clock)
    monkeypatch.setattr(Definition, "binding", lambda self, type: None)
    async with opened(store_url, handlers, clock=clock) as world:
        stuck = await world.now(begun)
        incident = stuck.state.nodes[world.node(stuck, "a")].incident
        assert incident is not None and (incident.code, "'t.two'" in incident.text) == ("definition.missing", True)


@pytest.mark.req("O10", "V25")
async def test_a_job_takes_the_version_of_its_verb_that_the_new_definition_pins(store_url: str) -> None:
    clock, handlers = VirtualSources(), Handlers()
    newer = VERBS + "- {name: t.contract, version: 2, description: newer, execution: {kind: sync}}\n"
    async with opened(store_url, handlers, clock=clock) as world:
        await world.deploy(line("p", service("a", "t.contract"), pause("sleep", "P1D")))
        begun = await world.start("p")
    async with opened(store_url, handlers, clock=clock, verbs=newer) as world:
        await world.deploy(line("p", service("a", "t.contract"), pause("sleep", "P1D")))
        plan = await world.engine.migrate(begun.id, ORIGIN)
        assert [(each.before, each.after) for each in plan.new_verbs] == [("t.contract v1", "t.contract v2")]
        await world.engine.retry_incident(begun.id, world.node(begun, "a"), ORIGIN)
        assert world.standing(await world.now(begun)) == ["sleep"], "the newer one promises no output"


@pytest.mark.req("O10")
async def test_what_arrived_and_is_being_looked_at_is_not_migrated_to_a_wait_that_nobody_looks_after(
    store_url: str,
) -> None:
    async with opened(store_url) as world:
        looked_at = wait("asked", "m", properties={"intake": "t.contract"})
        await world.deploy(line("p", looked_at, messages=(message("m", key="k"),)))
        begun = await world.start("p")
        await world.engine.publish("m", "k", ORIGIN, data={"answer": "yes"})
        await world.deploy(line("p", wait("asked", "m"), messages=(message("m", key="k"),)))
        await world.now(begun)
        with pytest.raises(RejectedError, match=r"'asked' has a job of 't\.contract' and 'asked' names no intake"):
            await world.engine.migrate(begun.id, ORIGIN)


@pytest.mark.req("O10", "V14")
async def test_a_job_cut_off_and_mapped_to_another_element_is_given_again_under_its_key(store_url: str) -> None:
    clock, handlers = VirtualSources(), Slow("t.one")
    later = line("p", service("b", "t.one"), service("a", "t.one"))
    begun = await cut_off(store_url, handlers, clock, later, {"a": "b"})
    handlers.held = ""
    async with opened(store_url, handlers, clock=clock) as world:
        assert (await world.now(begun)).state.status == "completed"
        keys = {key.partition("/")[2] for key in handlers.keys["t.one"]}
        assert keys == {"a/1", "a/2"}, "and another task with the id it had has a key of its own"
