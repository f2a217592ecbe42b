"""Deploying: others go on while a process is judged, and what is stored is what was judged."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from perdure.bpmn.xml import read_model
from perdure.errors import InvariantBroken, Problem
from perdure.work.computations import Computations
from tests.bpmn.xml.fixtures import in_process
from tests.engines.embedded.engine_world import ORIGIN, opened
from tests.engines.embedded.process_models import line, service, user

SLOW = Problem("test.blocked", "", 0, 0, "", "nobody else could do anything meanwhile", "")
MOST_SECONDS = 30
"""How long a judge waits for somebody else to do something, before it calls the process wrong."""


@pytest.fixture
def beside() -> Iterator[Computations]:
    """Computations in threads, as a server has them."""
    computations = Computations()
    yield computations
    computations.close()


@pytest.mark.req("O12")
async def test_instances_go_on_while_a_process_is_proved(beside: Computations) -> None:
    async with opened() as world:
        await world.deploy(line("other", service("a", "t.one"), user("decide")))
        went_on = threading.Event()
        has_begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        def prove(model: Any, deployed: Any, contract: Any, others: Any) -> list[Problem]:
            loop.call_soon_threadsafe(has_begun.set)
            return [] if went_on.wait(MOST_SECONDS) else [SLOW]

        world.definitions._checks = (prove,)
        world.definitions._run = beside.run
        deploying = asyncio.ensure_future(world.deploy(line("p", service("a", "t.one"))))
        await has_begun.wait()
        begun = await world.engine.start("other", ORIGIN)
        assert world.standing(await world.now(begun)) == ["decide"]
        assert await world.definitions.find("p", ORIGIN) is None, "nothing of it is there before it is judged"
        went_on.set()
        assert (await deploying).version == 1


async def test_the_same_process_judged_twice_at_the_same_time_is_one_version(
    store_url: str, beside: Computations
) -> None:
    async with opened(store_url) as world:
        both = threading.Barrier(2, timeout=MOST_SECONDS)

        def prove(model: Any, deployed: Any, contract: Any, others: Any) -> list[Problem]:
            both.wait()
            return []

        world.definitions._checks = (prove,)
        world.definitions._run = beside.run
        model = line("p", service("a", "t.one"))
        made = await asyncio.gather(world.deploy(model), world.deploy(model))
        assert {each.version for each in made} == {1}
        assert sorted(each.is_new for each in made) == [False, True]


async def test_a_process_that_was_changed_while_it_was_judged_is_not_stored() -> None:
    async with opened() as world:

        def prove(model: Any, deployed: Any, contract: Any, others: Any) -> list[Problem]:
            deployed.compensation["t.one"] = "t.two"
            return []

        world.definitions._checks = (prove,)
        with pytest.raises(InvariantBroken, match="'p', but it was changed while it was judged"):
            await world.deploy(line("p", service("a", "t.one")))
        assert await world.definitions.find("p", ORIGIN) is None


async def test_a_version_retired_while_its_content_is_deployed_again_is_active_once_more() -> None:
    async with opened() as world:
        model = line("p", service("a", "t.one"))
        await world.deploy(model)
        judged = await world.definitions.judge(model, ORIGIN)
        await world.engine.retire("p", 1, ORIGIN)
        deployment = await world.definitions.enter(judged, ORIGIN)
        assert deployment.version == 1
        assert [each.status for each in await world.definitions.versions("p", ORIGIN)] == ["active"]


LANES = (
    '<d:laneSet id="set"><d:lane id="l"><d:flowNodeRef>a</d:flowNodeRef><d:flowNodeRef>o</d:flowNodeRef></d:lane>'
    "</d:laneSet>"
)
COMPLETED = "<d:completionCondition>=orch_ok = true</d:completionCondition>"


def deployed_before(lanes: str = "", completion: str = "") -> str:
    """A file with what was passed over when it was deployed, and is told of today."""
    inner = (
        '<d:startEvent id="t" /><d:userTask id="b" /><d:endEvent id="u" />'
        '<d:sequenceFlow id="tb" sourceRef="t" targetRef="b" /><d:sequenceFlow id="bu" sourceRef="b" targetRef="u" />'
    )
    return in_process(
        f'{lanes}<d:startEvent id="s" /><d:subProcess id="a">{inner}{completion}</d:subProcess><d:endEvent id="e" />'
        '<d:sequenceFlow id="sa" sourceRef="s" targetRef="a" /><d:sequenceFlow id="ae" sourceRef="a" targetRef="e" />',
        '<d:process id="q" isExecutable="false"><d:task id="o" /></d:process>',
    )


@pytest.mark.parametrize("text", [deployed_before(LANES), deployed_before("", COMPLETED)], ids=["lanes", "completion"])
async def test_what_was_let_through_once_is_deployed_already_and_shown_whatever_is_told_of_it_today(text: str) -> None:
    async with opened() as world:
        world.definitions._checks = ()
        await world.deploy(read_model(text), profile="open")
        world.definitions._checks = (lambda *_: [SLOW],)
        assert not (await world.deploy(read_model(text), profile="open")).is_new
        view = await world.sandbox.processes.get("p")
        assert [each.id for each in read_model(view.xml).definitions.processes] == ["p"]
