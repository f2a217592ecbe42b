"""Small models put together by hand, for tests that need no file."""

from __future__ import annotations

from itertools import pairwise

from perdure.bpmn.conditions.parser import parse_condition
from perdure.bpmn.model import (
    Definitions,
    Event,
    Flow,
    Gateway,
    Model,
    Node,
    Process,
    Scope,
    Task,
)


def model_of(*nodes: Node, flows: tuple[Flow, ...] = (), process: str = "order") -> Model:
    body = Scope(nodes=nodes, flows=flows)
    return Model(definitions=Definitions(id="definitions", processes=(Process(id=process, body=body),)))


def lead(*ids: str) -> tuple[Flow, ...]:
    return tuple(Flow(id=f"{source}_to_{target}", source=source, target=target) for source, target in pairwise(ids))


def in_line(*nodes: Node) -> Model:
    """Start, the nodes, end."""
    start, end = Event(id="start", name="Start", position="start"), Event(id="end", name="End", position="end")
    return model_of(start, *nodes, end, flows=lead("start", *(node.id for node in nodes), "end"))


def blocks(count: int) -> Model:
    """A long chain of parallel and exclusive blocks, eight nodes each."""
    nodes: list[Node] = [Event(id="start", name="Start", position="start")]
    flows: list[Flow] = []
    last = "start"
    for number in range(count):
        fork, left, right, join, choice, yes, no, merge = (f"{letter}{number}" for letter in "fabjxcdy")
        nodes += [
            Gateway(id=fork, kind="parallel"), Task(id=left, name="Left", kind="service", type="order.left"),
            Task(id=right, name="Right", kind="service", type="order.right"), Gateway(id=join, kind="parallel"),
            Gateway(id=choice, name="Ready?", kind="exclusive", default=f"{choice}_to_{no}"),
            Task(id=yes, name="Yes", kind="service", type="order.yes"), Task(id=no, name="No", kind="user"),
            Gateway(id=merge, kind="exclusive"),
        ]  # fmt: skip
        flows += [*lead(last, fork, left, join, choice, no, merge), *lead(fork, right, join), *lead(yes, merge)]
        condition = parse_condition("orch_ready = true")
        flows.append(Flow(id=f"{choice}_to_{yes}", source=choice, target=yes, condition=condition))
        last = merge
    nodes.append(Event(id="end", name="End", position="end"))
    return model_of(*nodes, flows=(*flows, *lead(last, "end")))
