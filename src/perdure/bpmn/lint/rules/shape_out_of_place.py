"""An element is drawn outside what it belongs to.

What a subprocess or a pool holds is drawn inside it, a boundary event on the border of its activity. Drawn elsewhere,
the diagram says something else than the model.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    Bounds,
    Event,
    Node,
    Shape,
)

CODE = "BPM182"
NAME = "shape-out-of-place"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    drawing, collaboration = index.model.diagram, index.definitions.collaboration
    pools = {} if collaboration is None else {each.process: each.id for each in collaboration.participants}
    for plane in () if drawing is None else drawing.planes():
        shapes = {shape.element: shape for shape in plane.shapes}
        for shape in plane.shapes:
            node = index.nodes.get(shape.element)
            if node is not None:
                yield from _misplaced(index, node, shape.bounds, shapes, pools)


def _misplaced(
    index: Index, node: Node, bounds: Bounds, shapes: dict[str, Shape], pools: dict[str, str]
) -> Iterator[Note]:
    if isinstance(node, Event) and node.position == "boundary":
        host = shapes.get(node.attached_to)
        if host is not None and not _touches(bounds, host.bounds):
            fact = f"it is drawn away from '{host.element}', to which it is attached"
            yield Note(node.id, fact, "Draw it on the border of its activity.")
        return
    room = index.room_of[node.id].id
    around = shapes.get(pools.get(room, room))
    if around is not None and around.is_expanded and not _holds(around.bounds, bounds):
        fact = f"it is drawn outside '{around.element}', which holds it"
        yield Note(node.id, fact, "Draw it inside, or draw that larger.")


def _touches(one: Bounds, other: Bounds) -> bool:
    beside = one.x > other.x + other.width or other.x > one.x + one.width
    above = one.y > other.y + other.height or other.y > one.y + one.height
    return not beside and not above


def _holds(outer: Bounds, inner: Bounds) -> bool:
    across = outer.x <= inner.x and inner.x + inner.width <= outer.x + outer.width
    return across and outer.y <= inner.y and inner.y + inner.height <= outer.y + outer.height
