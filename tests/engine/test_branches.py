"""Concurrent branches: their changes are merged, and where they clash both verbs are named."""

from __future__ import annotations

import pytest

from tests.engine.models import END, START, flow, fork, line, model, service, times
from tests.engine.world import ORIGIN, opened


def both(first: str, second: str) -> object:
    return model(
        "both",
        (START, fork("split"), service("a", first), service("b", second), fork("join"), END),
        (flow("start", "split"), flow("split", "a"), flow("split", "b"), flow("a", "join"), flow("b", "join"),
         flow("join", "end")),
    )  # fmt: skip


@pytest.mark.req("V33")
async def test_changes_of_both_branches_are_kept(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(both("t.one", "t.two"))
        ended = await world.start("both", data={"given": 1})
        assert ended.state.status == "completed"
        assert await world.data(ended) == {"given": 1, "t_one": 1, "t_two": 1}
        payload = await world.engine.payloads.open(ended.id, ended.state.head)
        assert {each.verb for each in payload.sub_verb_trail} == {"t.one", "t.two"}


@pytest.mark.req("V33")
@pytest.mark.req("V16")
async def test_a_path_changed_by_two_branches_is_an_incident_naming_both_verbs(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(both("t.same", "t.same-too"))
        stuck = await world.start("both")
        assert stuck.state.status == "active"
        incident = next(node.incident for node in stuck.state.nodes.values() if node.incident is not None)
        assert "t.same" in incident.text and "t.same-too" in incident.text and "/shared" in incident.text
        assert "shared" in await world.data(stuck)
        node = next(node for node in stuck.state.nodes.values() if node.incident is not None)
        await world.engine.retry_incident(stuck.id, node.number, ORIGIN)
        mended = await world.now(stuck)
        assert mended.state.status == "completed", "run again from the head as it is now, there is no clash"


@pytest.mark.req("V33")
async def test_results_of_iterations_lie_under_their_activity_and_number(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("many", service("each", "t.same", repeat=times(3)), service("after", "t.one")))
        ended = await world.start("many")
        assert ended.state.status == "completed", ended.state
        assert await world.data(ended) == {
            "each": {"1": {"shared": "t.same"}, "2": {"shared": "t.same"}, "3": {"shared": "t.same"}}, "t_one": 1,
        }  # fmt: skip
        assert len(world.handlers.keys["t.same"]) == 3
