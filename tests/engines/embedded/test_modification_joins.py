"""Tokens that a person puts before a join count for a flow that has none, or are refused."""

from __future__ import annotations

import pytest

from perdure.bpmn.model import Gateway
from perdure.errors import RejectedError
from tests.engines.embedded.engine_world import ORIGIN, opened
from tests.engines.embedded.test_migration_of_joins import FIRST_OF_TWO, INCLUSIVE, PARALLEL, answer, branches

EVERY = Gateway(id="join", kind="complex")


@pytest.mark.req("O6")
@pytest.mark.parametrize("join", [PARALLEL, INCLUSIVE, EVERY], ids=lambda join: join.kind)
@pytest.mark.parametrize("other", ["one", "two"])
async def test_a_token_put_before_a_join_stands_for_the_one_that_was_taken_away(
    store_url: str, join: Gateway, other: str
) -> None:
    async with opened(store_url) as world:
        await world.deploy(branches(join), profile="open")
        begun = await world.start("p")
        await world.engine.modify(begun.id, ORIGIN, cancel=[world.node(begun, other)], start=["join"])
        await answer(world, "two" if other == "one" else "one")
        assert world.standing(await world.now(begun)) == ["last"]


@pytest.mark.req("O6")
async def test_tokens_put_before_a_join_are_refused_when_it_would_wait_for_ever_all_the_same(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(branches(PARALLEL))
        begun = await world.start("p")
        both = [world.node(begun, "one"), world.node(begun, "two")]
        with pytest.raises(RejectedError, match="'join' would wait for ever: no token can come on one-join any more"):
            await world.engine.modify(begun.id, ORIGIN, cancel=both, start=["join"])
        with pytest.raises(RejectedError, match="every flow into 'join' that it waits for has a token"):
            await world.engine.modify(begun.id, ORIGIN, start=["join", "join", "join"])
        await world.engine.modify(begun.id, ORIGIN, cancel=both[:1], start=["join", "one"])
        assert world.standing(await world.now(begun)) == ["join", "one", "two"], "either may still come"
        await world.engine.modify(begun.id, ORIGIN, cancel=both[1:], start=["join"])
        assert "last" in world.standing(await world.now(begun))


@pytest.mark.req("O6")
async def test_a_token_that_a_complex_gateway_would_swallow_is_refused(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(branches(FIRST_OF_TWO), profile="open")
        begun = await world.start("p")
        await answer(world, "two")
        with pytest.raises(RejectedError, match="would be of no use"):
            await world.engine.modify(begun.id, ORIGIN, start=["join", "join"])
