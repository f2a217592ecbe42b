"""Where the names of flows stand: beside a level piece of their line, clear of everything else."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from perdure.bpmn.layout.boxes import Point
from perdure.bpmn.layout.spatial_index import Index
from perdure.bpmn.layout.text_metrics import label_size
from perdure.bpmn.model import Bounds, Edge, Shape


def label_edges(edges: list[Edge], names: dict[str, str], shapes: list[Shape]) -> list[Edge]:
    """The edges with a place for each name."""
    index = Index()
    for shape in shapes:
        index.add(shape.bounds)
        if shape.label is not None:
            index.add(shape.label)
    for edge in edges:
        index.add_line(edge.points)
    return [_labelled(edge, names.get(edge.element, ""), index) for edge in edges]


def _labelled(edge: Edge, name: str, index: Index) -> Edge:
    if not name.strip():
        return edge
    width, height = label_size(name)
    places = list(_places(edge.points, width, height))
    label = next((place for place in places if not index.hits(place)), places[0])
    index.add(label)
    return Edge(element=edge.element, points=edge.points, label=label)


def _places(points: tuple[Point, ...], width: float, height: float) -> Iterator[Bounds]:
    pieces = list(itertools.pairwise(points))
    level = [piece for piece in pieces if abs(piece[0][1] - piece[1][1]) < 0.5]
    for (x, y), (end, _) in sorted(level, key=lambda piece: abs(piece[0][0] - piece[1][0]) < width + 6):
        left, right = min(x, end), max(x, end)
        middle = (left + right - width) / 2
        near = min(left + 18, max(left + 5, middle)) if end > x else max(right - width - 18, middle)
        for at in (near, middle, right - width - 12 if end > x else left + 12):
            yield Bounds(at, y - height - 2, width, height)
            yield Bounds(at, y + 3, width, height)
    for (x, y), (_, end) in pieces:
        middle = (y + end) / 2 - height / 2
        yield Bounds(x + 4, middle, width, height)
        yield Bounds(x - width - 4, middle, width, height)
