"""Versions: the same content is the same version, instances stay on theirs, new ones take the latest."""

from __future__ import annotations

import asyncio

import pytest

from perdure.errors import DefinitionError, RejectedError
from tests.engines.embedded.engine_world import ORIGIN, opened
from tests.engines.embedded.process_models import END, START, flow, line, model, pause, service, timer_start

FIRST = line("p", pause("sleep", "P1D"), service("a", "t.one"))
SECOND = line("p", pause("sleep", "P1D"), service("a", "t.two"))


@pytest.mark.req("V25")
async def test_a_running_instance_stays_on_its_version_and_a_new_one_takes_the_latest(store_url: str) -> None:
    async with opened(store_url) as world:
        first = await world.deploy(FIRST)
        old = await world.start("p")
        second = await world.deploy(SECOND)
        new = await world.start("p")
        assert (first.version, second.version) == (1, 2)
        assert (old.state.process_version, new.state.process_version) == (1, 2)
        await world.sandbox.advance("P2D")
        assert await world.data(old) == {"t_one": 1}
        assert await world.data(new) == {"t_two": 1}


@pytest.mark.req("V25")
async def test_the_same_content_deployed_again_or_at_once_is_one_version(store_url: str) -> None:
    async with opened(store_url) as world:
        made = await asyncio.gather(*(world.deploy(FIRST) for _ in range(5)))
        assert {each.version for each in made} == {1}
        assert sum(each.is_new for each in made) == 1
        others = await asyncio.gather(world.deploy(SECOND), world.deploy(FIRST), world.deploy(SECOND))
        assert [each.version for each in others] == [2, 1, 2]
        versions = await world.definitions.versions("p", ORIGIN)
        assert [(each.version, each.is_latest) for each in versions] == [(1, False), (2, True)]


@pytest.mark.req("V25")
async def test_a_retired_version_starts_nothing_and_what_runs_under_it_goes_on(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(FIRST)
        running = await world.start("p")
        await world.deploy(SECOND)
        await world.engine.retire("p", 2, ORIGIN, reason="wrong")
        assert (await world.start("p")).state.process_version == 1
        with pytest.raises(RejectedError, match="version 2 is retired"):
            await world.start("p", version=2)
        await world.engine.retire("p", 1, ORIGIN)
        with pytest.raises(RejectedError, match="every version of it is retired"):
            await world.start("p")
        await world.sandbox.advance("P2D")
        assert (await world.now(running)).state.status == "completed"


async def test_a_process_that_names_no_verb_or_breaks_a_rule_is_refused_with_every_finding() -> None:
    async with opened() as world:
        with pytest.raises(RejectedError, match=r"t\.unheard"):
            await world.deploy(line("p", service("a", "t.unheard")))
        broken = model("p", (START, service("a", "t.one"), END), (flow("start", "a"),))
        with pytest.raises(DefinitionError) as refused:
            await world.deploy(broken)
        assert refused.value.problems
        with pytest.raises(RejectedError, match="not deployed"):
            await world.start("p")


async def test_a_process_starts_by_its_timer_as_often_as_its_cycle_says(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("cyclic", timer_start("every", "cycle", "R3/PT1H"), service("a", "t.one")))
        await world.sandbox.advance("PT90M")
        assert world.handlers.runs["t.one"] == 1
        await world.sandbox.advance("P1D")
        assert world.handlers.runs["t.one"] == 3
        assert len(await world.instances.newest(ORIGIN, process="cyclic")) == 3


async def test_a_monthly_start_keeps_its_day(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.sandbox.advance("P30D")
        await world.deploy(line("monthly", timer_start("every", "cycle", "R3/P1M"), service("a", "t.one")))
        for day, runs in (("P27D", 0), ("P1D", 1), ("P30D", 1), ("P1D", 2), ("P29D", 2), ("P1D", 3), ("P1Y", 3)):
            await world.sandbox.advance(day)
            assert world.handlers.runs["t.one"] == runs


async def test_starts_that_were_missed_count_once(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("hourly", timer_start("every", "cycle", "R/PT1H"), service("a", "t.one")))
        world.sandbox.clock.move_to(world.sandbox.clock.now() + 10 * 3600 * 1_000_000)
        await world.sandbox.advance("PT30M")
        assert world.handlers.runs["t.one"] == 1
        await world.sandbox.advance("PT30M")
        assert world.handlers.runs["t.one"] == 2


async def test_a_cron_start_goes_on_until_its_version_is_replaced(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("daily", timer_start("nine", "cycle", "0 9 * * *"), service("a", "t.one")))
        await world.sandbox.advance("P3D")
        assert world.handlers.runs["t.one"] == 3
        await world.deploy(line("daily", service("a", "t.one")))
        await world.sandbox.advance("P3D")
        assert world.handlers.runs["t.one"] == 3


async def test_a_start_timer_that_could_never_come_is_refused() -> None:
    async with opened() as world:
        with pytest.raises(DefinitionError):
            await world.deploy(line("never", timer_start("x", "cycle", "at noon"), service("a", "t.one")))
