"""Concurrent branches: their changes are merged, and where they clash both verbs are named."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from perdure.bpmn.model import Model, SubProcess
from perdure.verbs import Call, Result
from tests.engines.embedded.engine_world import ORIGIN, Handlers, opened
from tests.engines.embedded.process_models import END, START, flow, fork, line, model, service, times


class Telling(Handlers):
    """Every verb brings the same."""

    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__()
        self.data = data

    async def plain(self, call: Call) -> Result:
        self.count(call)
        return Result(self.data)


def both(first: str, second: str, mark: str = "") -> Model:
    start, split, a, b, join, end = (mark + name for name in ("start", "split", "a", "b", "join", "end"))
    begin, stop = replace(START, id=start), replace(END, id=end)
    return model(
        "both",
        (begin, fork(split), service(a, first), service(b, second), fork(join), stop),
        (flow(start, split), flow(split, a), flow(split, b), flow(a, join), flow(b, join), flow(join, end)),
    )


@pytest.mark.req("V33")
async def test_changes_of_both_branches_are_kept(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(both("t.one", "t.two"))
        ended = await world.start("both", data={"given": 1})
        assert ended.state.status == "completed"
        assert await world.data(ended) == {"given": 1, "t_one": 1, "t_two": 1}
        payload = await world.instances.payloads.open(ended.id, ended.state.head)
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


@pytest.mark.req("V33")
@pytest.mark.parametrize("data", [{}, {"case": {}}])
async def test_branches_that_bring_nothing_do_not_clash_inside_or_outside_of_iterations(
    store_url: str, data: dict[str, Any]
) -> None:
    inner = SubProcess(id="each", body=both("t.one", "t.two", "in_").definitions.processes[0].body, repeat=times(2))
    many = line("many", inner, service("after", "t.three"))
    async with opened(store_url, Telling(data)) as world:
        for process in (many, both("t.one", "t.two")):
            await world.deploy(process, profile="open")
            ended = await world.start(process.definitions.processes[0].id)
            assert ended.state.status == "completed", ended.state
            brought = {"each": {"1": data, "2": data}} if data and process is many else {}
            assert await world.data(ended) == {**data, **brought}
