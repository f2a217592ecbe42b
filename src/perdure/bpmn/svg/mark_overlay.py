"""Marks as pictures: badges at the corners of shapes, numbers along a path."""

from __future__ import annotations

from perdure.bpmn.model import Bounds, Diagram, Edge
from perdure.bpmn.svg.edges import middle
from perdure.bpmn.svg.marks import Mark, Marks
from perdure.bpmn.svg.markup import circle, group, path, rectangle
from perdure.bpmn.svg.text_lines import badge_width, centred

SIZE = 11.0
HEIGHT = 19.0
MOST_STEPS_SHOWN = 4
MOST_FINDINGS_SHOWN = 3


def overlay(diagram: Diagram, marks: Marks) -> str:
    """Everything that lies above the picture."""
    shapes = {shape.element: _Corners(shape.bounds) for shape in diagram.shapes}
    parts = [_marked(mark, shapes[id]) for id, mark in marks.elements.items() if id in shapes]
    edges = {edge.element: edge for edge in diagram.edges}
    parts += [_found(mark, edges[id]) for id, mark in marks.elements.items() if id in edges]
    return "".join([*parts, *_steps(marks, shapes, edges)])


class _Corners:
    """Where badges stand. Small shapes have names around them: an event below, a gateway at the upper left."""

    def __init__(self, box: Bounds) -> None:
        self.left, self.top = box.x, box.y
        self.right, self.bottom = box.x + box.width, box.y + box.height
        self.is_small = box.width < 60
        self.step = (self.left, self.top)
        if self.is_small:
            self.bottom -= 7
            self.right += 2
            self.left -= 2
            self.step = (self.left, self.bottom)


def _marked(mark: Mark, corners: _Corners) -> str:
    parts = []
    if mark.tokens:
        x, anchor = (corners.right - 6, "start") if corners.is_small else (corners.left, "start")
        parts.append(_badge(_count(mark.tokens), x, corners.bottom, "token", anchor))
    if mark.completed:
        text = "✓" + _count(mark.completed)
        if corners.is_small:
            after = badge_width(_count(mark.tokens), SIZE) + 1 if mark.tokens else 0.0
            parts.append(_badge(text, corners.right - 6 + after, corners.bottom, "good", "start"))
        else:
            parts.append(_badge(text, corners.right, corners.bottom, "good", "end"))
    if mark.has_incident:
        parts.append(_badge("!", corners.right, corners.top, "bad", "end"))
    if mark.is_waiting:
        parts.append(_hourglass(corners.right + (22 if mark.has_incident else 0), corners.top))
    return "".join([*parts, _codes(mark.findings, corners.left, corners.top - 18)])


def _found(mark: Mark, edge: Edge) -> str:
    x, y = middle(edge.points)
    return _codes(mark.findings, x, y + 12)


def _codes(findings: tuple[str, ...], x: float, y: float) -> str:
    shown = [*findings[:MOST_FINDINGS_SHOWN]]
    if len(findings) > len(shown):
        shown.append(f"+{len(findings) - len(shown)}")
    parts = []
    for code in shown:
        parts.append(_badge(code, x - HEIGHT / 2, y, "warn", "start"))
        x += badge_width(code, SIZE) + 2
    return "".join(parts)


def _steps(marks: Marks, shapes: dict[str, _Corners], edges: dict[str, Edge]) -> list[str]:
    """Numbers at nodes, or along flows where the path has no nodes."""
    if not marks.is_numbered:
        return []
    stops = [id for id in marks.path if id in shapes] or [id for id in marks.path if id in edges]
    numbers: dict[str, list[str]] = {}
    for number, id in enumerate(stops, 1):
        numbers.setdefault(id, []).append(str(number))
    parts = []
    for id, found in numbers.items():
        x, y = shapes[id].step if id in shapes else middle(edges[id].points)
        more = "…" if len(found) > MOST_STEPS_SHOWN else ""
        parts.append(_badge(", ".join(found[:MOST_STEPS_SHOWN]) + more, x, y, "step", "start"))
    return parts


def _badge(text: str, x: float, y: float, kind: str, anchor: str) -> str:
    """A pill whose end is centred on a corner."""
    width = badge_width(text, SIZE)
    left = x - HEIGHT / 2 if anchor == "start" else x + HEIGHT / 2 - width
    box = Bounds(left, y - HEIGHT / 2, width, HEIGHT)
    pill = rectangle(box.x, box.y, box.width, box.height, f"badge {kind}", HEIGHT / 2)
    return group(pill + centred(text, Bounds(box.x - 4, box.y, box.width + 8, box.height), SIZE, "on"))


def _hourglass(x: float, y: float) -> str:
    frame = f"M{x - 4},{y - 5}H{x + 4}L{x - 4},{y + 5}H{x + 4}Z"
    return group(circle(x, y, HEIGHT / 2, "badge warn") + path(frame, "glyph"))


def _count(number: int) -> str:
    return str(number) if number < 10_000 else f"{number // 1000}k"
