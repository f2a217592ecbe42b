"""The order inside columns: long edges get places in the columns they pass, then sorting reduces crossings."""

from __future__ import annotations

import itertools
from bisect import bisect_right, insort

from perdure.bpmn.layout.column_graph import BEND, Graph, Item, Wire
from perdure.bpmn.layout.text_metrics import label_size

SWEEPS = 8
BENDS_PER_ITEM = 4
FEWEST_BENDS = 2_000
"""Wires are bent through columns, shortest first, up to so many bends; longer ones run outside."""
MOST_LINKS_COUNTED = 20_000
"""Crossings are only counted in smaller graphs; in larger ones the last sweep is taken."""

Links = dict[int, list[tuple[Item, float]]]
"""The neighbours of an item, each with how far below the middle of the neighbour the wire meets it, in places."""


def order(graph: Graph) -> None:
    """Fill the columns, each from top to bottom."""
    _bend(graph)
    links = neighbours(graph)
    _first_order(graph)
    left: Links = {}
    right: Links = {}
    for one, other, drop in links:
        right.setdefault(id(one), []).append((other, 0.0))
        left.setdefault(id(other), []).append((one, drop))
    _reduce(graph, links, left, right)


def neighbours(graph: Graph) -> list[tuple[Item, Item, float]]:
    """Every pair joined by a wire from one column to the next, the left one first, and how low the wire leaves it."""
    found = []
    for wire in graph.wires:
        if wire.is_outside:
            continue
        stops = wire.bends if wire.is_back else [wire.source, *wire.bends, wire.target]
        for one, other in itertools.pairwise(stops):
            drop = _drop(wire) if one is wire.source else 0.0
            found.append((other, one, 0.0) if wire.is_back else (one, other, drop))
    return found


def _drop(wire: Wire) -> float:
    """What leaves by a boundary event leads below what leaves the host itself."""
    exits = list(wire.source.slot.exits) if wire.exit and wire.source.slot else []
    return 0.3 + 0.3 * exits.index(wire.exit) / len(exits) if exits else 0.0


def _bend(graph: Graph) -> None:
    budget = max(FEWEST_BENDS, BENDS_PER_ITEM * len(graph.items))
    for wire in sorted(graph.wires, key=_span):
        budget -= _span(wire)
        wire.is_outside = budget < 0
        if not wire.is_outside:
            wire.bends = [_make_bend(wire, column) for column in _passed(wire)]
            if wire.is_back:
                wire.bends[0].beside = wire.source
                wire.bends[-1].beside = wire.target
    for wire in graph.wires:
        graph.items.extend(wire.bends)


def _passed(wire: Wire) -> range:
    if wire.is_back:
        return range(wire.source.column, wire.target.column - 1, -1)
    return range(wire.source.column + 1, wire.target.column)


def _span(wire: Wire) -> int:
    return len(_passed(wire))


def _make_bend(wire: Wire, column: int) -> Item:
    is_first = column == wire.source.column + (0 if wire.is_back else 1)
    room = label_size(wire.name)[1] if is_first else 0.0
    band = wire.target.band if column == wire.target.column else wire.source.band
    return Item(band, BEND + room, BEND, 0, 0, column=column)


def _first_order(graph: Graph) -> None:
    graph.columns = [[] for _ in range(max((item.column for item in graph.items), default=-1) + 1)]
    for item in graph.items:
        graph.columns[item.column].append(item)
    for column in graph.columns:
        column.sort(key=lambda item: item.band)
        _number(column)


def _number(column: list[Item]) -> None:
    for place, item in enumerate(column):
        item.place = place


def _reduce(graph: Graph, links: list[tuple[Item, Item, float]], left: Links, right: Links) -> None:
    is_counted = len(links) <= MOST_LINKS_COUNTED
    best: tuple[int, list[list[Item]]] | None = None
    for sweep in range(SWEEPS):
        if sweep % 2 == 0:
            for column in graph.columns[1:]:
                _sort(column, left)
        else:
            for column in reversed(graph.columns[:-1]):
                _sort(column, right)
        crossings = _crossings(links) if is_counted else -sweep
        if best is None or crossings < best[0]:
            best = (crossings, [list(column) for column in graph.columns])
        if crossings == 0 and sweep:
            break
    if best is not None:
        graph.columns = best[1]
    for column in graph.columns:
        _number(column)


def _sort(column: list[Item], links: Links) -> None:
    keys = {id(item): _key(item, links) for item in column}
    for item in column:
        if item.beside is not None and not links.get(id(item)):
            keys[id(item)] = keys[id(item.beside)] + 0.01
    column.sort(key=lambda item: (item.band, keys[id(item)]))
    _number(column)


def _key(item: Item, links: Links) -> float:
    joined = links.get(id(item), ())
    return sum(other.place + drop for other, drop in joined) / len(joined) if joined else float(item.place)


def _crossings(links: list[tuple[Item, Item, float]]) -> int:
    columns: dict[int, list[tuple[float, int]]] = {}
    for one, other, drop in links:
        columns.setdefault(one.column, []).append((one.place + drop, other.place))
    total = 0
    for pairs in columns.values():
        seen: list[int] = []
        for _, place in sorted(pairs):
            total += len(seen) - bisect_right(seen, place)
            insort(seen, place)
    return total
