"""Boxes, and placed pieces of a layout that move together."""

from __future__ import annotations

import math

import msgspec

from perdure.bpmn.model import Bounds, Edge, Shape

Point = tuple[float, float]


class Block(msgspec.Struct):
    """Shapes and edges placed relative to one corner, with the room they take."""

    width: float = 0.0
    height: float = 0.0
    shapes: list[Shape] = []
    edges: list[Edge] = []

    def put(self, other: Block, x: float, y: float) -> None:
        """Take over the pieces of another block, moved to where it stands."""
        self.shapes.extend(moved_shape(shape, x, y) for shape in other.shapes)
        self.edges.extend(moved_edge(edge, x, y) for edge in other.edges)


def moved(bounds: Bounds, x: float, y: float) -> Bounds:
    return Bounds(bounds.x + x, bounds.y + y, bounds.width, bounds.height)


def moved_shape(shape: Shape, x: float, y: float) -> Shape:
    label = None if shape.label is None else moved(shape.label, x, y)
    return Shape(
        element=shape.element, bounds=moved(shape.bounds, x, y), is_expanded=shape.is_expanded,
        is_horizontal=shape.is_horizontal, label=label,
    )  # fmt: skip


def moved_edge(edge: Edge, x: float, y: float) -> Edge:
    label = None if edge.label is None else moved(edge.label, x, y)
    return Edge(element=edge.element, points=tuple((px + x, py + y) for px, py in edge.points), label=label)


def cover(bounds: list[Bounds]) -> Bounds:
    """The smallest box around all of them."""
    if not bounds:
        return Bounds(0, 0, 0, 0)
    left, top = min(each.x for each in bounds), min(each.y for each in bounds)
    right = max(each.x + each.width for each in bounds)
    bottom = max(each.y + each.height for each in bounds)
    return Bounds(left, top, right - left, bottom - top)


def overlaps(one: Bounds, other: Bounds) -> bool:
    """Whether two boxes share more than a border."""
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def tidy(points: list[Point]) -> tuple[Point, ...]:
    """The same line without repeated points and without points on the way."""
    kept: list[Point] = []
    for point in points:
        if kept and _is_same(kept[-1], point):
            continue
        if len(kept) > 1 and _is_between(kept[-2], kept[-1], point):
            kept[-1] = point
        else:
            kept.append(point)
    return tuple(kept) if len(kept) > 1 else (points[0], points[-1])


def up_to_ten(value: float) -> float:
    """Rounded up to the grid of ten pixels, on which modellers like things to stand."""
    return math.ceil(value / 10) * 10.0


def _is_same(one: Point, other: Point) -> bool:
    return abs(one[0] - other[0]) < 0.01 and abs(one[1] - other[1]) < 0.01


def _is_between(one: Point, middle: Point, other: Point) -> bool:
    """Whether the middle of three lies on the straight way from the first to the last."""
    for axis in (0, 1):
        if abs(one[axis] - middle[axis]) < 0.01 and abs(middle[axis] - other[axis]) < 0.01:
            return (middle[1 - axis] - one[1 - axis]) * (other[1 - axis] - middle[1 - axis]) >= 0
    return False
