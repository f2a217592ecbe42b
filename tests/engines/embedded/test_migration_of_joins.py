"""Tokens that wait for each other at a join are migrated with the flows they came on, or not at all."""

from __future__ import annotations

from itertools import pairwise

import pytest

from perdure.bpmn.conditions.tree import Compare
from perdure.bpmn.model import ACTIVATION_COUNT, Gateway, Model, Node
from perdure.errors import RejectedError
from tests.engines.embedded.engine_world import ORIGIN, World, opened
from tests.engines.embedded.process_models import END, START, flow, fork, model, service, user

PARALLEL, INCLUSIVE = fork("join"), Gateway(id="join", kind="inclusive")
FIRST_OF_TWO = Gateway(id="join", kind="complex", activation=Compare(ACTIVATION_COUNT, ">=", 1))


def branches(join: Gateway, *more: Node) -> Model:
    """Two people beside each other until they meet; the way of the first leads through `more`."""
    way = ("one", *(node.id for node in more), join.id)
    return model(
        "p",
        (START, fork("fork"), user("one"), user("two"), *more, join, user("last"), END),
        (
            flow("start", "fork"), flow("fork", "one"), flow("fork", "two"), flow("two", join.id),
            *(flow(a, b) for a, b in pairwise(way)), flow(join.id, "last"), flow("last", "end"),
        ),
    )  # fmt: skip


async def answer(world: World, *elements: str) -> None:
    for element in elements:
        (task,) = [each for each in await world.sandbox.tasks.list() if each.element == element]
        await world.sandbox.tasks.complete(task.key)
        await world.sandbox.run_until_idle()


@pytest.mark.req("O10")
@pytest.mark.parametrize("join", [PARALLEL, INCLUSIVE], ids=["parallel", "inclusive"])
async def test_tokens_at_a_join_whose_flow_is_gone_are_mapped_to_another_or_the_migration_is_refused(
    store_url: str, join: Gateway
) -> None:
    async with opened(store_url) as world:
        await world.deploy(branches(join), profile="open")
        begun = await world.start("p")
        await answer(world, "one")
        await world.deploy(branches(join, service("extra", "t.one")), profile="open")
        told = "the join 'join' has a token of the flow 'one-join', .* map it to one of extra-join, or take"
        for dry_run in (True, False):
            with pytest.raises(RejectedError, match=told):
                await world.engine.migrate(begun.id, ORIGIN, dry_run=dry_run)
        with pytest.raises(RejectedError, match="'nowhere' is not an element of the new version"):
            await world.engine.migrate(begun.id, ORIGIN, mapping={"one-join": "nowhere"})
        await world.engine.migrate(begun.id, ORIGIN, mapping={"one-join": "extra-join"})
        await world.engine.migrate_back(begun.id, ORIGIN)
        await world.engine.migrate(begun.id, ORIGIN, mapping={"one-join": "extra-join"})
        await answer(world, "two")
        assert world.standing(await world.now(begun)) == ["last"]


@pytest.mark.req("O10")
async def test_what_a_complex_gateway_still_swallows_it_swallows_by_the_flow_of_the_new_version(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(branches(FIRST_OF_TWO), profile="open")
        begun = await world.start("p")
        await answer(world, "two")
        assert world.standing(await world.now(begun)) == ["last", "one"]
        await world.deploy(branches(FIRST_OF_TWO, service("extra", "t.one")), profile="open")
        with pytest.raises(RejectedError, match="the flow 'one-join'"):
            await world.engine.migrate(begun.id, ORIGIN)
        await world.engine.migrate(begun.id, ORIGIN, mapping={"one-join": "extra-join"})
        await answer(world, "one")
        assert (world.standing(await world.now(begun)), world.handlers.runs["t.one"]) == (["last"], 1)


@pytest.mark.req("O10")
async def test_a_complex_gateway_that_is_gone_swallows_nothing_more(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(branches(FIRST_OF_TWO), profile="open")
        begun = await world.start("p")
        await answer(world, "two")
        await world.deploy(branches(Gateway(id="meeting", kind="exclusive")), profile="open")
        await world.engine.migrate(begun.id, ORIGIN)
        await answer(world, "one")
        assert world.standing(await world.now(begun)) == ["last", "last"]


@pytest.mark.req("O10")
async def test_a_join_that_waits_for_less_in_the_new_version_goes_on(store_url: str) -> None:
    alone = model(
        "p",
        (START, fork("fork"), user("one"), user("two"), PARALLEL, user("last"), END),
        (
            flow("start", "fork"), flow("fork", "one"), flow("fork", "two"), flow("one", "join"), flow("two", "end"),
            flow("join", "last"), flow("last", "end"),
        ),
    )  # fmt: skip
    async with opened(store_url) as world:
        await world.deploy(branches(PARALLEL))
        begun = await world.start("p")
        await answer(world, "one")
        await world.deploy(alone, profile="open")
        await world.engine.migrate(begun.id, ORIGIN)
        assert world.standing(await world.now(begun)) == ["last", "two"]
