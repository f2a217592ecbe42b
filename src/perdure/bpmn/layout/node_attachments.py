"""A node with all that clings to it: boundary events, their labels, compensation handlers, annotations."""

from __future__ import annotations

import msgspec

from perdure.bpmn.layout.boxes import Block, Point, moved_edge, moved_shape, up_to_ten
from perdure.bpmn.layout.sizes import EVENT, PADDING, TITLE, annotation_size, node_size
from perdure.bpmn.layout.text_metrics import label_size, text_width
from perdure.bpmn.model import (
    Annotation,
    Association,
    Bounds,
    CompensationTrigger,
    Edge,
    Event,
    Gateway,
    Node,
    Shape,
    SubProcess,
)  # fmt: skip

EXIT_GAP = 20.0
"""Between the lines that leave the boundary events of one host."""
WIDEST_TITLE = 400.0
"""A subprocess grows no wider for its name."""


class Clinging(msgspec.Struct, frozen=True):
    """What is placed with a node rather than by the flow."""

    boundary: tuple[Event, ...] = ()
    handlers: tuple[tuple[Association, Slot], ...] = ()
    annotations: tuple[tuple[Association, Annotation], ...] = ()
    exits: frozenset[str] = frozenset()
    """Boundary events from which a flow leaves."""


class Slot(msgspec.Struct):
    """All of it placed around the middle of the node, which lies on the axis of its row."""

    node: str
    width: float
    height: float
    left: float
    right: float
    above: float
    below: float
    shapes: list[Shape]
    edges: list[Edge]
    exits: dict[str, list[Point]]
    """For each boundary event with a flow: its way down to the line that leaves the slot to the right."""
    is_top_free: bool = True
    is_bottom_free: bool = True
    """Whether a flow may touch the node from above or below."""


def make_slot(node: Node, body: Block | None, clinging: Clinging) -> Slot:
    """Place a node, its body, and what clings to it."""
    width, height = _outer_size(node, body, clinging.boundary)
    half = height / 2
    shape = Shape(element=node.id, bounds=Bounds(-width / 2, -half, width, height), label=_label(node, half))
    slot = Slot(node.id, width, height, width / 2, width / 2, half, half, [shape], [], {})
    if shape.label is not None:
        _make_room(slot, shape.label)
        slot.is_bottom_free = not isinstance(node, Event)
    if body is not None:
        x, y = -width / 2 + (width - body.width) / 2, -half + TITLE
        slot.shapes += [moved_shape(each, x, y) for each in body.shapes]
        slot.edges += [moved_edge(each, x, y) for each in body.edges]
    if clinging.boundary:
        _put_boundary(slot, clinging)
    _put_annotations(slot, clinging.annotations)
    return slot


def _outer_size(node: Node, body: Block | None, boundary: tuple[Event, ...]) -> tuple[float, float]:
    width, height = node_size(node)
    if isinstance(node, Event | Gateway):
        return width, height
    if isinstance(node, SubProcess):
        width = max(width, min(text_width(node.name[:100], 12) + 30, WIDEST_TITLE))
        if body is not None and body.shapes:
            width = max(width, body.width + 2 * PADDING)
            foot = PADDING + (EVENT / 2 if boundary else 0) + (10 if node.repeat or node.kind == "ad_hoc" else 0)
            height = body.height + TITLE + foot
    width = max(width, sum(_spacing(event) for event in boundary) + 10)
    # Twice the grid, so that the middle lies on it.
    return 2 * up_to_ten(width / 2), 2 * up_to_ten(height / 2)


def _label(node: Node, half: float) -> Bounds | None:
    if not node.name or not isinstance(node, Event | Gateway):
        return None
    width, height = label_size(node.name)
    if isinstance(node, Event):
        return Bounds(-width / 2, half + 3, width, height)
    return Bounds(-width - 5, -half - height, width, height)


def _make_room(slot: Slot, bounds: Bounds) -> None:
    slot.left = max(slot.left, -bounds.x)
    slot.right = max(slot.right, bounds.x + bounds.width)
    slot.above = max(slot.above, -bounds.y)
    slot.below = max(slot.below, bounds.y + bounds.height)


def _spacing(event: Event) -> float:
    return max(EVENT + 14, label_size(event.name)[0] + 14)


def is_compensation(event: Event) -> bool:
    """Whether what clings to this boundary event is a compensation handler."""
    return any(isinstance(trigger, CompensationTrigger) for trigger in event.triggers)


def _put_boundary(slot: Slot, clinging: Clinging) -> None:
    """Events along the lower border. Lines leave to the right, the leftmost event lowest, so that none cross."""
    bottom = slot.height / 2
    ordered = sorted(clinging.boundary, key=lambda event: not is_compensation(event))
    x = slot.width / 2 - EVENT / 2 - 2
    centres: dict[str, float] = {}
    for event in reversed(ordered):
        centres[event.id] = x
        width, height = label_size(event.name)
        label = Bounds(x - 4 - width, bottom + EVENT / 2 + 1, width, height) if event.name else None
        bounds = Bounds(x - EVENT / 2, bottom - EVENT / 2, EVENT, EVENT)
        slot.shapes.append(Shape(element=event.id, bounds=bounds, label=label))
        for box in (bounds, label):
            if box is not None:
                _make_room(slot, box)
        x -= _spacing(event)
    leaving = [event.id for event in reversed(ordered) if event.id in clinging.exits]
    for index, event_id in enumerate(leaving):
        line = up_to_ten(slot.below + 4) + EXIT_GAP * index
        slot.exits[event_id] = [(centres[event_id], bottom + EVENT / 2), (centres[event_id], line)]
    if leaving:
        slot.below = slot.exits[leaving[-1]][-1][1] + 4
    slot.is_bottom_free = False
    _put_handlers(slot, clinging, centres)


def _put_handlers(slot: Slot, clinging: Clinging, centres: dict[str, float]) -> None:
    top = slot.below + 20
    x = float("-inf")
    for association, handler in clinging.handlers:
        start = centres[association.source if association.source in centres else association.target]
        x = max(x, start - handler.width / 2)
        end = x + handler.width / 2
        slot.shapes += [moved_shape(each, end, top + handler.height / 2) for each in handler.shapes]
        slot.edges += [moved_edge(each, end, top + handler.height / 2) for each in handler.edges]
        _make_room(slot, Bounds(x, top, handler.width, handler.height))
        points: list[Point] = [(start, slot.height / 2 + EVENT / 2), (start, top - 10), (end, top - 10), (end, top)]
        if abs(start - end) < 1:
            points = [points[0], (start, top)]
        if association.source not in centres:
            points.reverse()
        slot.edges.append(Edge(element=association.id, points=tuple(points)))
        x += handler.width + 20


def _put_annotations(slot: Slot, annotations: tuple[tuple[Association, Annotation], ...]) -> None:
    if not annotations:
        return
    bottom = -slot.above - 20
    x = -10.0
    for association, annotation in annotations:
        width, height = annotation_size(annotation)
        bounds = Bounds(x, bottom - height, width, height)
        slot.shapes.append(Shape(element=annotation.id, bounds=bounds))
        _make_room(slot, bounds)
        start = x + 10
        points: list[Point] = [(start, bottom), (start, bottom + 8), (0.0, bottom + 8), (0.0, -slot.height / 2)]
        if start == 0:
            points = [points[0], points[-1]]
        if association.source != annotation.id:
            points.reverse()
        slot.edges.append(Edge(element=association.id, points=tuple(points)))
        x += width + 15
    slot.is_top_free = False
