"""Drawings in: shapes and edges of the elements that are in the file; what draws something else is remarked."""

from __future__ import annotations

from collections.abc import Collection
from math import isfinite

from msgspec import UNSET

from perdure.bpmn.model import Bounds, Definitions, Diagram, Edge, Shape, data_associations
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.namespaces import NOTED, SUB_PROCESSES
from perdure.bpmn.xml.readers.extensions import documentation
from perdure.bpmn.xml.readers.file_context import Reading

_BOUNDS = ("x", "y", "width", "height")
_MARKER = "isMarkerVisible"
_COLOURS = ("bioc:", "color:")


def read_diagram(reading: Reading, root: Tag, definitions: Definitions) -> Diagram | None:
    """The drawing of the file. Further planes, which collapsed subprocesses have, are `inner` ones.

    Without a drawing the notes alone, and None when there are none either.
    """
    planes = [plane for each in root.all("bpmndi:BPMNDiagram") for plane in each.all("bpmndi:BPMNPlane")]
    drawn = [plane for plane in planes if _element(reading, plane)]
    notes = {id: text for id, tag in reading.tags.items() if tag.name in NOTED and (text := documentation(tag))}
    if not drawn:
        return Diagram(plane="", notes=notes) if notes else None
    collapsed = _sub_processes(root)
    ties = {id for process in definitions.processes for id in data_associations(process)}
    first, *others = (_plane(reading, plane, collapsed, ties) for plane in drawn)
    return Diagram(plane=first.plane, shapes=first.shapes, edges=first.edges, inner=tuple(others), notes=notes or UNSET)


def _sub_processes(root: Tag) -> set[str]:
    """Ids of subprocesses: they are drawn collapsed unless the drawing says otherwise."""
    found: set[str] = set()
    open_tags = list(root.all("bpmn:process"))
    while open_tags:
        children = list(open_tags.pop().all(*SUB_PROCESSES))
        found.update(child.get("id") for child in children)
        open_tags += children
    return found


def _plane(reading: Reading, plane: Tag, collapsed: set[str], ties: set[str]) -> Diagram:
    shapes = (_shape(reading, tag, collapsed) for tag in plane.all("bpmndi:BPMNShape"))
    edges = (_edge(reading, tag, ties) for tag in plane.all("bpmndi:BPMNEdge"))
    return Diagram(
        plane=reading.reference(plane, "bpmnElement"),
        shapes=tuple(shape for shape in shapes if shape is not None),
        edges=tuple(edge for edge in edges if edge is not None),
    )


def _shape(reading: Reading, tag: Tag, collapsed: set[str]) -> Shape | None:
    element = _element(reading, tag)
    bounds = _bounds(reading, tag)
    if not element or bounds is None:
        return None
    return Shape(
        element=element,
        bounds=bounds,
        is_expanded=reading.boolean(tag, "isExpanded", element not in collapsed),
        is_horizontal=reading.boolean(tag, "isHorizontal", True),
        label=_label(reading, tag),
        look=_look(tag),
    )


def _edge(reading: Reading, tag: Tag, ties: set[str]) -> Edge | None:
    element = _element(reading, tag, ties)
    if not element:
        return None
    points = tuple((_float(reading, each, "x"), _float(reading, each, "y")) for each in tag.all("di:waypoint"))
    return Edge(element=element, points=points, label=_label(reading, tag), look=_look(tag))


def _element(reading: Reading, tag: Tag, ties: Collection[str] = ()) -> str:
    """What is drawn; nothing where the file does not have it, or it is neither read nor one of the `ties`."""
    element = reading.reference(tag, "bpmnElement")
    if element and element not in reading.tags:
        fact = f"it draws '{element[:80]}', which is not in the file"
        reading.remark("BPM008", tag, fact, "Remove it from the drawing, or correct bpmnElement.")
    return element if element in reading.places or element in ties else ""


def _look(tag: Tag) -> dict[str, str]:
    return {name: text for name, text in tag.attributes.items() if name == _MARKER or name.startswith(_COLOURS)}


def _label(reading: Reading, tag: Tag) -> Bounds | None:
    label = tag.first("bpmndi:BPMNLabel")
    return None if label is None else _bounds(reading, label)


def _bounds(reading: Reading, tag: Tag) -> Bounds | None:
    bounds = tag.first("dc:Bounds")
    return None if bounds is None else Bounds(*(_float(reading, bounds, name) for name in _BOUNDS))


def _float(reading: Reading, tag: Tag, name: str) -> float:
    text = tag.get(name)
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if isfinite(number):
        return number
    reading.report("BPM014", tag, f"{name} of a drawing is '{text[:40]}', not a number", "Write a number.")
    return 0.0
