"""Channel routes: each edge leaves a node, crosses channels between columns and arrives at a node."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Literal

import msgspec

from perdure.bpmn.layout.column_graph import Graph, Item, Wire, exit_drop

Side = Literal["left", "right", "none"]
CLEARANCE = 8.0
"""Least distance a line keeps from what it passes."""


class Crossing(msgspec.Struct, eq=False):
    """A wire in a channel, from one height to another. Channel n lies to the right of column n; -1 is the first."""

    channel: int
    start: float
    end: float
    sides: tuple[Side, Side]
    """From which side of the channel it comes, and to which it goes."""
    key: object = None
    """Crossings of one channel with the same key run on one line."""
    x: float = 0.0


class Way(msgspec.Struct, eq=False):
    """A wire's crossings; `leaves` and `arrives` say where it touches its nodes: at the side, above or below."""

    wire: Wire
    crossings: list[Crossing]
    leaves: Literal["side", "above", "below"] = "side"
    arrives: Literal["side", "above", "below"] = "side"


def exit_height(wire: Wire) -> float:
    """How high a wire leaves the slot of its source."""
    return wire.source.y + exit_drop(wire)


def find_ways(graph: Graph, outside: dict[int, float], gateways: set[str]) -> list[Way]:
    """The ways of all wires; `outside` are the heights of those that run below everything."""
    ways = [Way(wire, _crossings(wire, outside)) for wire in graph.wires]
    corners = _Corners(graph, gateways)
    for way in sorted(ways, key=lambda way: (not way.wire.is_back, not way.wire.is_main)):
        if not way.wire.is_outside:
            corners.turn(way)
    _bundle(ways)
    return ways


def _crossings(wire: Wire, outside: dict[int, float]) -> list[Crossing]:
    start, end = exit_height(wire), wire.target.y
    first, last = wire.source.column, wire.target.column - 1
    if wire.is_outside:
        height = outside[id(wire)]
        return [Crossing(first, start, height, ("left", "none")), Crossing(last, height, end, ("none", "right"))]
    heights = [start, *(bend.y for bend in wire.bends), end]
    pairs = list(itertools.pairwise(heights))
    if not wire.is_back:
        return [Crossing(first + step, a, b, ("left", "right")) for step, (a, b) in enumerate(pairs)]
    made = [Crossing(first - step, a, b, ("right", "left")) for step, (a, b) in enumerate(pairs)]
    made[0].sides = ("left", "left")
    made[-1].sides = ("right", "right")
    return made


class _Corners:
    """Lets wires touch nodes from above or below where nothing stands in between."""

    def __init__(self, graph: Graph, gateways: set[str]) -> None:
        self.graph = graph
        self.gateways = gateways
        self.used: dict[tuple[int, str], str] = {}
        """Wires that leave and wires that arrive never share a corner."""
        self.gaps: dict[tuple[int, int], int] = {}
        """Which item's wires turn in a gap, by column and place of the item above it."""
        self.leaving = Counter(id(wire.source) for wire in graph.wires if not wire.exit)
        self.arriving = Counter(id(wire.target) for wire in graph.wires)

    def turn(self, way: Way) -> None:
        wire, crossings = way.wire, way.crossings
        if wire.is_back:
            self._turn_back(way)
            return
        first, last = crossings[0], crossings[-1]
        if not wire.exit and self.leaving[id(wire.source)] > 1:
            side = self._corner(wire.source, first.end, "leaves", None)
            if side:
                way.leaves, first.start = side, first.end
        if (first is not last or way.leaves == "side") and self._is_join(wire.target):
            side = self._corner(wire.target, last.start, "arrives", None)
            if side:
                way.arrives, last.end = side, last.start

    def _turn_back(self, way: Way) -> None:
        wire = way.wire
        if not wire.exit:
            side = self._corner(wire.source, wire.bends[0].y, "leaves", wire.bends[0])
            if side:
                way.leaves = side
                del way.crossings[0]
        side = self._corner(wire.target, wire.bends[-1].y, "arrives", wire.bends[-1])
        if side:
            way.arrives = side
            del way.crossings[-1]

    def _is_join(self, item: Item) -> bool:
        return item.slot is not None and item.slot.node in self.gateways and self.arriving[id(item)] > 1

    def _corner(self, item: Item, y: float, how: str, bend: Item | None) -> Literal["above", "below"] | None:
        slot = item.slot
        if slot is None or abs(y - item.y) < slot.height / 2 + CLEARANCE:
            return None
        side: Literal["above", "below"] = "above" if y < item.y else "below"
        if not (slot.is_top_free if side == "above" else slot.is_bottom_free):
            return None
        gap = (item.column, item.place - 1 if side == "above" else item.place)
        if self.used.get((id(item), side), how) != how or self.gaps.get(gap, id(item)) != id(item):
            return None
        if not self._is_clear(item, y, side, bend):
            return None
        self.used[id(item), side] = how
        self.gaps[gap] = id(item)
        return side

    def _is_clear(self, item: Item, y: float, side: str, bend: Item | None) -> bool:
        column = self.graph.columns[item.column]
        place = item.place + (-1 if side == "above" else 1)
        if not 0 <= place < len(column):
            return True
        other = column[place]
        if other is bend:
            return True
        if side == "above":
            return y - CLEARANCE >= other.y + other.below
        return y + CLEARANCE <= other.y - other.above


def _bundle(ways: list[Way]) -> None:
    """Lines that leave one port run together as far as they can; else those that arrive at one."""
    forks: Counter[object] = Counter()
    for way in ways:
        if way.leaves == "side" and way.crossings:
            forks[_port(way.wire)] += 1
    for number, way in enumerate(ways):
        for step, crossing in enumerate(way.crossings):
            crossing.key = (number, step)
        if way.crossings and way.arrives == "side":
            way.crossings[-1].key = ("to", id(way.wire.target))
        if way.crossings and way.leaves == "side" and (forks[_port(way.wire)] > 1 or len(way.crossings) > 1):
            way.crossings[0].key = ("from", _port(way.wire))


def _port(wire: Wire) -> object:
    return (id(wire.source), wire.exit)
