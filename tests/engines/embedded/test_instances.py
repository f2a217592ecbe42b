"""Instances run: jobs in order, payload intact, waits, timers, people."""

from __future__ import annotations

from itertools import pairwise

import pytest

from perdure.payload import data_hash
from tests.engines.embedded.engine_world import ORIGIN, opened
from tests.engines.embedded.process_models import line, message, pause, service, user, wait

pytestmark = pytest.mark.both_stores

FIVE = line(
    "five", service("a", "t.one"), service("b", "t.two"), service("c", "t.three"), service("d", "t.four"),
    service("e", "t.five"),
)  # fmt: skip


@pytest.mark.req("V8")
@pytest.mark.req("V14")
async def test_data_goes_through_five_tasks_intact_hashed_and_with_its_trail(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(FIVE)
        ended = await world.start("five", data={"given": 1})
        assert ended.state.status == "completed"
        payload = await world.instances.payloads.open(ended.id, ended.state.head)
        assert payload.data == {"given": 1, "t_one": 1, "t_two": 1, "t_three": 1, "t_four": 1, "t_five": 1}
        assert [each.verb for each in payload.sub_verb_trail] == ["t.one", "t.two", "t.three", "t.four", "t.five"]
        hashes = [(each.hash_in, each.hash_out) for each in payload.sub_verb_trail]
        assert hashes[0][0] == data_hash({"given": 1})
        assert all(out == into for (_, out), (into, _) in pairwise(hashes))
        assert hashes[-1][1] == payload.schema_hash == data_hash(payload.data)
        assert set(world.handlers.runs.values()) == {1}


async def test_an_instance_waits_for_a_message_a_timer_and_a_person(store_url: str) -> None:
    model = line(
        "waiting", wait("asked", "m"), pause("sleep", "P9D"), user("review"), messages=(message("m", key="k-1"),)
    )  # fmt: skip
    async with opened(store_url) as world:
        await world.deploy(model)
        begun = await world.start("waiting")
        assert world.standing(begun) == ["asked"]
        assert (await world.engine.publish("m", "k-1", ORIGIN, data={"note": "hello"})).outcome == "correlated"
        begun = await world.now(begun)
        assert world.standing(begun) == ["sleep"]
        await world.sandbox.advance("P9D")
        begun = await world.now(begun)
        assert world.standing(begun) == ["review"]
        await world.engine.complete_task(begun.id, world.node(begun, "review"), ORIGIN, data={"verdict": "yes"})
        begun = await world.now(begun)
        assert begun.state.status == "completed"
        assert await world.data(begun) == {"note": "hello", "verdict": "yes"}
