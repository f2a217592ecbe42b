"""Of the drawing of a file, the part that shows one process."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET
from msgspec.structs import replace

from perdure.bpmn.model import Definitions, Diagram, Lane, Model, Process, data_associations, scopes


def diagram_of(model: Model, process: Process) -> Diagram | None:
    """The drawing without pools, message flows and other processes; None when none of the process is drawn."""
    if model.diagram is None:
        return None
    elements = set(_elements(process))
    drawn = _part(model.diagram, process.id, elements)
    told = elements | set(_roots(model.definitions))
    notes = {id: text for id, text in (model.diagram.notes or {}).items() if id in told}
    return replace(drawn, notes=notes or UNSET) if drawn.shapes else None


def _part(diagram: Diagram, plane: str, elements: set[str]) -> Diagram:
    return Diagram(
        plane=plane,
        shapes=tuple(shape for shape in diagram.shapes if shape.element in elements),
        edges=tuple(edge for edge in diagram.edges if edge.element in elements),
        inner=tuple(_part(each, each.plane, elements) for each in diagram.inner if each.plane in elements),
    )


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
