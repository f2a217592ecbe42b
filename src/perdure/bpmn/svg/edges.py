"""Lines as pictures: sequence flows, message flows, associations."""

from __future__ import annotations

import itertools
import math

from perdure.bpmn.layout.boxes import Point
from perdure.bpmn.layout.text_metrics import label_size
from perdure.bpmn.model import Association, Bounds, Edge, Flow, MessageFlow
from perdure.bpmn.svg.markup import circle, element, number, polygon
from perdure.bpmn.svg.text_lines import label

CORNER = 6.0


def draw_flow(flow: Flow, edge: Edge, is_default: bool, is_conditional: bool, is_shared: bool) -> str:
    """A sequence flow; its source says whether it is the default or conditional; `is_shared`: it begins with others."""
    parts = [_line(edge.points, "flow"), _tip(edge.points, "full tip")]
    if is_default:
        parts.append(_slash(edge.points[1:] if is_shared and len(edge.points) > 2 else edge.points))
    if is_conditional:
        parts.append(_diamond(edge.points))
    return "".join([*parts, _name(flow.name, edge)])


def draw_message_flow(flow: MessageFlow, edge: Edge) -> str:
    x, y = edge.points[0]
    start = circle(x, y, 4, "hollow")
    return _line(edge.points, "message") + start + _tip(edge.points, "hollow tip", 11) + _name(flow.name, edge)


def draw_association(association: Association, edge: Edge) -> str:
    ends = []
    if association.direction in ("One", "Both"):
        ends.append(_open_tip(edge.points))
    if association.direction == "Both":
        ends.append(_open_tip(edge.points[::-1]))
    return _line(edge.points, "association") + "".join(ends)


def middle(points: tuple[Point, ...]) -> Point:
    """The point half-way along a line."""
    pieces = list(itertools.pairwise(points))
    left = sum(math.dist(*piece) for piece in pieces) / 2
    for one, other in pieces:
        length = math.dist(one, other)
        if length >= left and length:
            return _along(one, other, left)
        left -= length
    return points[-1]


def _line(points: tuple[Point, ...], kind: str) -> str:
    """With rounded corners."""
    commands = [f"M{_pair(points[0])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        radius = min(CORNER, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        commands.append(
            f"L{_pair(_along(corner, before, radius))}Q{_pair(corner)} {_pair(_along(corner, after, radius))}"
        )
    commands.append(f"L{_pair(points[-1])}")
    return element("path", d="".join(commands), class_=kind)


def _pair(point: Point) -> str:
    return f"{number(point[0])},{number(point[1])}"


def _along(start: Point, towards: Point, distance: float) -> Point:
    length = math.dist(start, towards)
    share = distance / length if length else 0.0
    return start[0] + (towards[0] - start[0]) * share, start[1] + (towards[1] - start[1]) * share


def _direction(points: tuple[Point, ...]) -> tuple[float, float]:
    """Of the last piece that has a length."""
    end = points[-1]
    for point in reversed(points[:-1]):
        length = math.dist(point, end)
        if length:
            return (end[0] - point[0]) / length, (end[1] - point[1]) / length
    return 1.0, 0.0


def _tip(points: tuple[Point, ...], kind: str, length: float = 9.0) -> str:
    (x, y), (dx, dy) = points[-1], _direction(points)
    back_x, back_y = x - dx * length, y - dy * length
    half = length * 0.45
    return polygon([(x, y), (back_x - dy * half, back_y + dx * half), (back_x + dy * half, back_y - dx * half)], kind)


def _open_tip(points: tuple[Point, ...]) -> str:
    (x, y), (dx, dy) = points[-1], _direction(points)
    one = (x - dx * 9 - dy * 5, y - dy * 9 + dx * 5)
    other = (x - dx * 9 + dy * 5, y - dy * 9 - dx * 5)
    return element("path", d=f"M{_pair(one)}L{_pair((x, y))}L{_pair(other)}", class_="thin")


def _slash(points: tuple[Point, ...]) -> str:
    x, y = _along(points[0], points[1], min(12.0, math.dist(points[0], points[1]) / 2))
    dx, dy = _direction(points[:2])
    one = (x + dx * 4 - dy * 6, y + dy * 4 + dx * 6)
    other = (x - dx * 4 + dy * 6, y - dy * 4 - dx * 6)
    return element("path", d=f"M{_pair(one)}L{_pair(other)}", class_="line")


def _diamond(points: tuple[Point, ...]) -> str:
    (x, y), (dx, dy) = points[0], _direction(points[:2])
    side_x, side_y = x + dx * 8, y + dy * 8
    one, other = (side_x - dy * 4.5, side_y + dx * 4.5), (side_x + dy * 4.5, side_y - dx * 4.5)
    return polygon([(x, y), one, (x + dx * 16, y + dy * 16), other], "hollow")


def _name(name: str, edge: Edge) -> str:
    if not name:
        return ""
    width, height = label_size(name)
    x, y = middle(edge.points)
    return label(name, edge.label or Bounds(x - width / 2, y - height - 3, width, height))
