"""Which column each node stands in: longest path from the left, with the flows that close loops left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from perdure.bpmn.layout.column_graph import Graph, Item, Wire

Outgoing = dict[int, list[Wire]]


def rank(graph: Graph) -> None:
    """Give every item its column, and mark the wires that run back."""
    outgoing: Outgoing = {id(item): [] for item in graph.items}
    for wire in graph.wires:
        outgoing[id(wire.source)].append(wire)
    _mark_back(graph, outgoing)
    _part_twins(graph)
    order = _topological(graph, outgoing)
    for item in order:
        for wire in _forward(outgoing[id(item)]):
            wire.target.column = max(wire.target.column, item.column + wire.length)
    _pull_sources(graph, outgoing)
    _mark_main(order, outgoing)


def _forward(wires: list[Wire]) -> Iterator[Wire]:
    return (wire for wire in wires if not wire.is_back)


def _mark_back(graph: Graph, outgoing: Outgoing) -> None:
    """A flow to a node that is still being walked closes a loop."""
    entered = {id(wire.target) for wire in graph.wires if wire.source is not wire.target}
    roots = [item for item in graph.items if id(item) not in entered]
    done: set[int] = set()
    for root in [*roots, *graph.items]:
        if id(root) not in done:
            _walk(root, outgoing, done)


def _walk(root: Item, outgoing: Outgoing, done: set[int]) -> None:
    walking = {id(root)}
    stack: list[tuple[Item, Iterator[Wire]]] = [(root, iter(outgoing[id(root)]))]
    while stack:
        item, wires = stack[-1]
        wire = next(wires, None)
        if wire is None:
            stack.pop()
            walking.discard(id(item))
            done.add(id(item))
        elif id(wire.target) in walking:
            wire.is_back = True
        elif id(wire.target) not in done:
            walking.add(id(wire.target))
            stack.append((wire.target, iter(outgoing[id(wire.target)])))


def _part_twins(graph: Graph) -> None:
    """Flows between the same two nodes need a column between them, or they would lie on each other."""
    count = Counter((id(wire.source), wire.exit, id(wire.target)) for wire in graph.wires)
    for wire in graph.wires:
        if count[id(wire.source), wire.exit, id(wire.target)] > 1:
            wire.length = 2


def _topological(graph: Graph, outgoing: Outgoing) -> list[Item]:
    waiting = {id(item): 0 for item in graph.items}
    for wire in _forward(graph.wires):
        waiting[id(wire.target)] += 1
    order = [item for item in graph.items if not waiting[id(item)]]
    for item in order:
        for wire in _forward(outgoing[id(item)]):
            waiting[id(wire.target)] -= 1
            if not waiting[id(wire.target)]:
                order.append(wire.target)
    return order


def _pull_sources(graph: Graph, outgoing: Outgoing) -> None:
    """What only begins late stands near to where it leads."""
    entered = {id(wire.target) for wire in graph.wires}
    for item in graph.items:
        wires = [wire for wire in outgoing[id(item)] if wire.source is not wire.target]
        if id(item) not in entered and wires:
            item.column = max(0, min(wire.target.column - wire.length for wire in wires))


def _mark_main(order: list[Item], outgoing: Outgoing) -> None:
    """The longest way from the first beginning, kept straight."""
    ahead: dict[int, tuple[int, Wire | None]] = {}
    for item in reversed(order):
        best: tuple[int, Wire | None] = (0, None)
        for wire in _forward(outgoing[id(item)]):
            steps = ahead[id(wire.target)][0] + 1
            # A way that leaves by a boundary event is never the main one.
            if steps > best[0] and not wire.exit:
                best = (steps, wire)
        ahead[id(item)] = best
    if not order:
        return
    item = max((item for item in order if item.column == 0), key=lambda item: ahead[id(item)][0])
    while (following := ahead[id(item)][1]) is not None:
        following.is_main = True
        item = following.target
