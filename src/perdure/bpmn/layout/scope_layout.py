"""The layout of one scope, from its innermost subprocess outwards."""

from __future__ import annotations

import math

import msgspec

from perdure.bpmn.layout.boxes import Block, cover, moved_edge, moved_shape, up_to_ten
from perdure.bpmn.layout.channel_routes import find_ways
from perdure.bpmn.layout.column_graph import Graph, Item, Wire, slot_item
from perdure.bpmn.layout.column_order import order
from perdure.bpmn.layout.edge_channels import place_columns
from perdure.bpmn.layout.edge_points import line_of
from perdure.bpmn.layout.flow_labels import label_edges
from perdure.bpmn.layout.node_attachments import Slot
from perdure.bpmn.layout.ranks import rank
from perdure.bpmn.layout.scope_contents import Gathered, gather
from perdure.bpmn.layout.vertical_positions import GAP, place_rows
from perdure.bpmn.model import Bounds, Edge, Gateway, Scope, Shape, SubProcess

BAND_PADDING = 20.0
EMPTY_BAND = 80.0
OUTSIDE_GAP = 14.0


class Bands(msgspec.Struct, frozen=True):
    """The lanes of a process as horizontal bands: how many there are, and in which one each node stands."""

    count: int = 1
    of: dict[str, int] = {}


class ScopeLayout(msgspec.Struct, frozen=True):
    """A laid-out scope and the top and height of each of its bands."""

    block: Block
    bands: tuple[tuple[float, float], ...] = ()


def lay_out_scope(scope: Scope, bands: Bands | None = None) -> ScopeLayout:
    """Place everything in a scope, in bands if there are lanes; the corner is at 0, 0."""
    is_banded = bands is not None
    bands = bands or Bands()
    bodies = {node.id: lay_out_scope(node.body).block for node in scope.nodes if isinstance(node, SubProcess)}
    gathered = gather(scope, bodies)
    graph, shelved = _graph(gathered, bands)
    rank(graph)
    if is_banded:
        _spread(graph, shelved, bands)
        shelved = []
    order(graph)
    heights = place_rows(graph)
    tops = _stack_bands(graph, heights, bands) if is_banded else ((0.0, heights[0]),)
    bottom = tops[-1][0] + tops[-1][1]
    outside = _outside(graph, bottom)
    bottom = max([bottom, *(height + GAP for height in outside.values())])
    gateways = {node.id for node in scope.nodes if isinstance(node, Gateway)}
    block = _drawn(graph, outside, gateways, gathered)
    _shelve(block, [*shelved, *gathered.loose], bottom + GAP if graph.items else 0.0)
    if is_banded:
        block.height = up_to_ten(max(block.height, bottom))
        tops = (*tops[:-1], (tops[-1][0], block.height - tops[-1][0]))
        return ScopeLayout(block, tops)
    return ScopeLayout(_cornered(block))


def _graph(gathered: Gathered, bands: Bands) -> tuple[Graph, list[Slot]]:
    """Items for whatever a flow reaches; the rest is put on a shelf."""
    reached = {end for wire in gathered.wires for end in (wire.source, wire.target)}
    # Unassigned nodes stand in a band of their own below the lanes.
    items = {
        slot.node: slot_item(slot, bands.of.get(slot.node, bands.count - 1))
        for slot in gathered.slots
        if slot.node in reached
    }
    wires = [Wire(wire.flow, wire.name, items[wire.source], items[wire.target], wire.exit) for wire in gathered.wires]
    shelved = [slot for slot in gathered.slots if slot.node not in reached]
    return Graph(list(items.values()), wires), shelved


def _spread(graph: Graph, shelved: list[Slot], bands: Bands) -> None:
    """In lanes there is no shelf: what no flow reaches stands in the columns, one after the other."""
    columns = max((item.column for item in graph.items), default=-1) + 1 or max(1, math.isqrt(len(shelved)))
    for number, slot in enumerate(shelved):
        item = slot_item(slot, bands.of.get(slot.node, bands.count - 1))
        item.column = number % columns
        graph.items.append(item)


def _stack_bands(graph: Graph, heights: list[float], bands: Bands) -> tuple[tuple[float, float], ...]:
    tops: list[tuple[float, float]] = []
    y = 0.0
    for band in range(bands.count):
        inner = max(EMPTY_BAND, heights[band]) if band < len(heights) else EMPTY_BAND
        height = math.ceil((inner + 2 * BAND_PADDING) / 10) * 10.0
        tops.append((y, height))
        y += height
    for item in graph.items:
        item.y += tops[item.band][0] + BAND_PADDING
    return tuple(tops)


def _outside(graph: Graph, bottom: float) -> dict[int, float]:
    """Heights for the wires that run below everything, as few lines as their spans allow."""
    wires = [wire for wire in graph.wires if wire.is_outside]
    ends: list[int] = []
    heights: dict[int, float] = {}
    for wire in sorted(wires, key=lambda wire: min(wire.source.column, wire.target.column - 1)):
        first, last = sorted((wire.source.column, wire.target.column - 1))
        line = next((number for number, end in enumerate(ends[:200]) if end < first), len(ends))
        ends[line : line + 1] = [last]
        heights[id(wire)] = bottom + GAP + line * OUTSIDE_GAP
    return heights


def _drawn(graph: Graph, outside: dict[int, float], gateways: set[str], gathered: Gathered) -> Block:
    ways = find_ways(graph, outside, gateways)
    middles, width = place_columns(graph, ways)
    shapes: list[Shape] = []
    edges: list[Edge] = []
    for item in graph.items:
        _put_slot(shapes, edges, item.slot, middles[item.column], item)
    own = [Edge(element=way.wire.flow, points=line_of(way, middles)) for way in ways]
    names = {wire.flow: wire.name for wire in gathered.wires}
    around = [shape for shape in shapes if shape.element in gathered.here]
    edges += label_edges(own, names, around)
    bottom = max((item.y + item.below for item in graph.items), default=0.0)
    return Block(width, bottom, shapes, edges)


def _put_slot(shapes: list[Shape], edges: list[Edge], slot: Slot | None, x: float, item: Item) -> None:
    if slot is not None:
        shapes.extend(moved_shape(shape, x, item.y) for shape in slot.shapes)
        edges.extend(moved_edge(edge, x, item.y) for edge in slot.edges)


def _shelve(block: Block, slots: list[Slot], top: float) -> None:
    """Rows of what no flow reaches, below the rest."""
    area = sum((slot.left + slot.right + GAP) * (slot.above + slot.below + GAP) for slot in slots)
    limit = max(block.width, 300.0, math.sqrt(area) * 1.6)
    x, y, deepest = 0.0, top, 0.0
    for slot in slots:
        width, height = slot.left + slot.right, slot.above + slot.below
        if x and x + width > limit:
            x, y, deepest = 0.0, y + deepest + GAP, 0.0
        block.shapes.extend(moved_shape(shape, x + slot.left, y + slot.above) for shape in slot.shapes)
        block.edges.extend(moved_edge(edge, x + slot.left, y + slot.above) for edge in slot.edges)
        x += width + 2 * GAP
        deepest = max(deepest, height)
        block.width = max(block.width, x - 2 * GAP)
        block.height = max(block.height, y + height)


def _cornered(block: Block) -> Block:
    """The same block with everything in it, labels and lines too, at or beyond the corner."""
    boxes = [shape.bounds for shape in block.shapes]
    boxes += [shape.label for shape in block.shapes if shape.label is not None]
    boxes += [edge.label for edge in block.edges if edge.label is not None]
    boxes += [Bounds(x, y, 0, 0) for edge in block.edges for x, y in edge.points]
    around = cover(boxes)
    x, y = -math.floor(around.x), -math.floor(around.y)
    made = Block(math.ceil(around.width) + 1, math.ceil(around.height) + 1)
    made.put(block, x, y)
    return made
