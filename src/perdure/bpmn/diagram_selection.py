"""Diagram selection: the diagrams of a file that are shown together."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec import UNSET
from msgspec.structs import replace

from perdure.bpmn.model import (
    Bounds,
    Definitions,
    Diagram,
    Edge,
    Lane,
    Model,
    Process,
    Shape,
    data_associations,
    scopes,
)

GAP = 60.0
"""Between drawings that are put below each other, in pixels."""


def page_of(diagram: Diagram, collapsed: Collection[str]) -> Diagram:
    """The drawings of a file below each other, without those of the insides of `collapsed` subprocesses."""
    page, *others = [plane for plane in diagram.planes() if plane.plane not in collapsed] or [diagram]
    for plane in others:
        page = _below(page, plane)
    return replace(page, inner=(), notes=diagram.notes)


def diagram_of(model: Model, process: Process) -> Diagram | None:
    """The drawing without pools, message flows and other processes; None when nothing of it is drawn or noted."""
    if model.diagram is None:
        return None
    elements = set(_elements(process))
    planes = [_part(plane, elements) for plane in model.diagram.planes()]
    page = page_of(replace(planes[0], inner=tuple(planes[1:])), elements)
    inner = tuple(plane for plane in planes if plane.plane in elements)
    drawn = Diagram(plane=process.id, shapes=page.shapes, edges=page.edges, inner=inner)
    told = elements | set(_roots(model.definitions))
    notes = {id: text for id, text in (model.diagram.notes or {}).items() if id in told}
    if drawn.shapes:
        return replace(drawn, notes=notes or UNSET)
    return Diagram(plane="", notes=notes) if notes else None


def _part(plane: Diagram, elements: Collection[str]) -> Diagram:
    return Diagram(
        plane=plane.plane,
        shapes=tuple(shape for shape in plane.shapes if shape.element in elements),
        edges=tuple(edge for edge in plane.edges if edge.element in elements),
    )


def _below(page: Diagram, plane: Diagram) -> Diagram:
    """What the page shows already is not put there again."""
    shown = page.elements()
    shapes = [shape for shape in plane.shapes if shape.element not in shown]
    edges = [edge for edge in plane.edges if edge.element not in shown]
    if not page.shapes or not shapes:
        return page if page.shapes else plane
    bottom = max(shape.bounds.y + shape.bounds.height for shape in page.shapes)
    down = bottom + GAP - min(shape.bounds.y for shape in shapes)
    return replace(
        page,
        shapes=(*page.shapes, *(_lowered_shape(shape, down) for shape in shapes)),
        edges=(*page.edges, *(_lowered_edge(edge, down) for edge in edges)),
    )


def _lowered_shape(shape: Shape, down: float) -> Shape:
    return replace(shape, bounds=_lowered(shape.bounds, down), label=shape.label and _lowered(shape.label, down))


def _lowered_edge(edge: Edge, down: float) -> Edge:
    points = tuple((x, y + down) for x, y in edge.points)
    return replace(edge, points=points, label=edge.label and _lowered(edge.label, down))


def _lowered(bounds: Bounds, down: float) -> Bounds:
    return replace(bounds, y=bounds.y + down)


def _elements(process: Process) -> Iterator[str]:
    yield from (id for lane in process.lanes for id in _lanes(lane))
    for scope in scopes(process.body):
        for each in (*scope.nodes, *scope.flows, *scope.associations, *scope.annotations):
            yield each.id
    yield from data_associations(process)


def _roots(definitions: Definitions) -> Iterator[str]:
    for each in (definitions.messages, definitions.signals, definitions.errors, definitions.escalations):
        yield from (root.id for root in each)


def _lanes(lane: Lane) -> Iterator[str]:
    yield lane.id
    yield from (id for each in lane.lanes for id in _lanes(each))
