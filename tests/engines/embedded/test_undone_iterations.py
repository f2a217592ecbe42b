"""Iterations that are undone: each with what it brought, and what undoing brings lies where that does."""

from __future__ import annotations

from itertools import pairwise

import pytest
from msgspec.structs import replace

from perdure.bpmn.model import (
    Association,
    CancelTrigger,
    CompensationTrigger,
    Event,
    Node,
    Scope,
    SubProcess,
)
from perdure.verbs import Call, Result
from tests.engines.embedded.engine_world import ORIGIN, Handlers, opened
from tests.engines.embedded.process_models import END, START, boundary, flow, line, service, times, user

BOOK, UNDO = service("book", "t.one"), service("undo", "t.two", is_for_compensation=True)
ON_BOOK = boundary("on-book", "book", CompensationTrigger())
THROW = Event(id="throw", position="throw", triggers=(CompensationTrigger(),))
CANCEL = Event(id="cancel", position="end", triggers=(CancelTrigger(),))
SEEN = [({"t_one": 3}, 3), ({"t_one": 2}, 2), ({"t_one": 1}, 1)]
LEFT = {str(each): {"t_one": each, "t_two": 4 - each} for each in (1, 2, 3)}


class Numbered(Handlers):
    """Notes what each undoing sees of its own iteration, and which it is."""

    def __init__(self) -> None:
        super().__init__()
        self.undone: list[tuple[dict[str, int], int]] = []

    async def plain(self, call: Call) -> Result:
        if call.verb == "t.two":
            self.undone.append(({name: value for name, value in call.args.items() if name == "t_one"}, call.iteration))
        return await super().plain(call)


def deal(*ends: Node, **more: object) -> SubProcess:
    """Books, which can be undone, in three iterations."""
    nodes = (replace(START, id="begin"), BOOK, *ends)
    flows = tuple(flow(one.id, other.id) for one, other in pairwise(nodes))
    links = (Association(id="link", source="on-book", target="undo"),)
    body = Scope(nodes=(*nodes, ON_BOOK, UNDO), flows=flows, associations=links)
    return SubProcess(id="deal", body=body, repeat=times(3), **more)  # type: ignore[arg-type]


@pytest.mark.req("V22")
async def test_a_cancelled_transaction_is_undone_with_the_data_of_each_iteration(store_url: str) -> None:
    cancelled = boundary("cancelled", "deal", CancelTrigger())
    handlers = Numbered()
    async with opened(store_url, handlers) as world:
        whole, out = deal(user("ask"), CANCEL, kind="transaction"), flow("cancelled", "end")
        await world.deploy(line("p", whole, more=(cancelled,), flows=(out,)), profile="open")
        waits = await world.start("p")
        await world.engine.complete_task(waits.id, world.node(waits, "ask"), ORIGIN)
        ended = await world.now(waits)
        assert ended.state.status == "completed", ended.state
        assert handlers.undone == SEEN
        assert await world.data(ended) == {"deal": LEFT}


@pytest.mark.req("V22")
async def test_a_repeated_subprocess_is_undone_later_with_the_data_of_each_iteration(store_url: str) -> None:
    handlers = Numbered()
    async with opened(store_url, handlers) as world:
        await world.deploy(line("p", deal(replace(END, id="over")), THROW), profile="open")
        ended = await world.start("p")
        assert ended.state.status == "completed", ended.state
        assert handlers.undone == SEEN
        assert await world.data(ended) == {"deal": LEFT}
