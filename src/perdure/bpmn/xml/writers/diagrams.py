"""Drawings out."""

from __future__ import annotations

from perdure.bpmn.model import Bounds, Definitions, Diagram, Edge, Shape, SubProcess, nodes
from perdure.bpmn.xml.element import Tag

Taken = dict[str, int]
"""Ids in use, each with how many were made of it."""


def diagram_tags(diagram: Diagram, definitions: Definitions, taken: Taken) -> list[Tag]:
    """One diagram per plane; ids are made that nobody has taken."""
    collapsible = {
        node.id for process in definitions.processes for node in nodes(process.body) if isinstance(node, SubProcess)
    }
    return [_diagram(each, collapsible, taken) for each in diagram.planes()]


def _diagram(diagram: Diagram, collapsible: set[str], taken: Taken) -> Tag:
    plane = Tag("bpmndi:BPMNPlane", {"id": _fresh("BPMNPlane_1", taken), "bpmnElement": diagram.plane})
    plane.with_children(*(_shape(shape, collapsible, taken) for shape in diagram.shapes))
    plane.with_children(*(_edge(edge, taken) for edge in diagram.edges))
    return Tag("bpmndi:BPMNDiagram", {"id": _fresh("BPMNDiagram_1", taken)}).with_children(plane)


def _shape(shape: Shape, collapsible: set[str], taken: Taken) -> Tag:
    attributes = {"id": _fresh(f"{shape.element}_di", taken), "bpmnElement": shape.element}
    if shape.element in collapsible or not shape.is_expanded:
        attributes["isExpanded"] = "true" if shape.is_expanded else "false"
    if not shape.is_horizontal:
        attributes["isHorizontal"] = "false"
    return Tag("bpmndi:BPMNShape", attributes | shape.look).with_children(_bounds(shape.bounds), _label(shape.label))


def _edge(edge: Edge, taken: Taken) -> Tag:
    attributes = {"id": _fresh(f"{edge.element}_di", taken), "bpmnElement": edge.element}
    points = (Tag("di:waypoint", {"x": _number(x), "y": _number(y)}) for x, y in edge.points)
    return Tag("bpmndi:BPMNEdge", attributes | edge.look).with_children(*points, _label(edge.label))


def _label(bounds: Bounds | None) -> Tag | None:
    return None if bounds is None else Tag("bpmndi:BPMNLabel").with_children(_bounds(bounds))


def _bounds(bounds: Bounds) -> Tag:
    named = {"x": bounds.x, "y": bounds.y, "width": bounds.width, "height": bounds.height}
    return Tag("dc:Bounds", {name: _number(number) for name, number in named.items()})


def _number(number: float) -> str:
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(float(number))


def _fresh(wanted: str, taken: Taken) -> str:
    id = wanted
    while id in taken:
        taken[wanted] = taken.get(wanted, 1) + 1
        id = f"{wanted}_{taken[wanted]}"
    taken[id] = 1
    return id
