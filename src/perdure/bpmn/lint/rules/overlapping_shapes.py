"""Two elements are drawn on top of each other.

One of them is hidden, at least in part. Move them apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    Bounds,
    Diagram,
    Event,
    Shape,
)

CODE = "BPM132"
NAME = "overlapping-shapes"
SEVERITIES = Severities("warning")


_CELL = 200.0


def check(index: Index) -> Iterator[Note]:
    diagram = index.model.diagram
    for plane in () if diagram is None else diagram.planes():
        for shapes in _by_scope(index, plane).values():
            yield from _overlaps(shapes)


def _overlaps(shapes: list[Shape]) -> Iterator[Note]:
    cells: dict[tuple[int, int], list[Shape]] = defaultdict(list)
    for shape in shapes:
        other = _overlapped(shape, cells)
        if other is not None:
            yield Note(shape.element, f"it is drawn over '{other.element}'", "Move them apart.")
        for cell in _cells(shape.bounds):
            cells[cell].append(shape)


def _by_scope(index: Index, plane: Diagram) -> dict[str, list[Shape]]:
    found: dict[str, list[Shape]] = defaultdict(list)
    for shape in plane.shapes:
        node = index.nodes.get(shape.element)
        if node is not None and not (isinstance(node, Event) and node.position == "boundary"):
            found[index.room_of[shape.element].id].append(shape)
    return found


def _cells(bounds: Bounds) -> Iterator[tuple[int, int]]:
    last_x, last_y = int((bounds.x + bounds.width) // _CELL), int((bounds.y + bounds.height) // _CELL)
    for x in range(int(bounds.x // _CELL), min(last_x, int(bounds.x // _CELL) + 100) + 1):
        for y in range(int(bounds.y // _CELL), min(last_y, int(bounds.y // _CELL) + 100) + 1):
            yield x, y


def _overlapped(shape: Shape, cells: dict[tuple[int, int], list[Shape]]) -> Shape | None:
    for cell in _cells(shape.bounds):
        for other in cells.get(cell, ()):
            if _overlap(shape.bounds, other.bounds):
                return other
    return None


def _overlap(one: Bounds, other: Bounds) -> bool:
    beside = one.x >= other.x + other.width or other.x >= one.x + one.width
    above = one.y >= other.y + other.height or other.y >= one.y + one.height
    return not beside and not above
