"""A whole picture: what is drawn in which order, and the frame around it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from perdure.bpmn.diagram_selection import page_of
from perdure.bpmn.layout import lay_out
from perdure.bpmn.layout.boxes import Point, cover
from perdure.bpmn.model import (
    Activity,
    Annotation,
    Association,
    Bounds,
    Definitions,
    Diagram,
    Event,
    Flow,
    Gateway,
    Lane,
    MessageFlow,
    Model,
    Node,
    Participant,
    Scope,
    SubProcess,
    scopes,
)  # fmt: skip
from perdure.bpmn.svg.edges import draw_association, draw_flow, draw_message_flow
from perdure.bpmn.svg.mark_overlay import overlay
from perdure.bpmn.svg.marks import Mark, Marks
from perdure.bpmn.svg.markup import element, escaped, group, number, rectangle
from perdure.bpmn.svg.nodes import draw_node
from perdure.bpmn.svg.pools_and_artifacts import draw_annotation, draw_lane, draw_pool
from perdure.bpmn.svg.stylesheet import style_sheet

MARGIN = 24.0
TITLE_HEIGHT = 30.0
Drawable = Node | Flow | Association | Annotation | Lane | Participant | MessageFlow


class _Scene(msgspec.Struct, frozen=True):
    elements: dict[str, Drawable]
    defaults: frozenset[str]
    shared: frozenset[str]
    """Flows that begin on one line with others."""
    marks: Marks


def draw(model: Model, marks: Marks | None = None, *, title: str = "", margin: float = MARGIN) -> str:
    """A self-contained SVG of the model: no scripts, nothing loaded from elsewhere; `margin` in pixels."""
    marks = marks or Marks()
    elements = {found.id: found for found in _elements(model.definitions)}
    diagram = _drawn(model, elements)
    hidden = _hidden(diagram, elements)
    diagram = Diagram(
        plane=diagram.plane,
        shapes=tuple(each for each in diagram.shapes if each.element in elements and each.element not in hidden),
        edges=tuple(
            each
            for each in diagram.edges
            if each.element in elements and each.element not in hidden and len(each.points) > 1
        ),
    )
    scene = _Scene(elements, frozenset(_defaults(elements)), frozenset(_shared(diagram)), marks)
    return _framed(diagram, [*_shapes(scene, diagram), overlay(diagram, marks)], title, margin)


def _drawn(model: Model, elements: dict[str, Drawable]) -> Diagram:
    if model.diagram is not None:
        page = page_of(model.diagram, {id for id, found in elements.items() if isinstance(found, SubProcess)})
        if page.shapes:
            return page
    return lay_out(model.definitions)


def _elements(definitions: Definitions) -> Iterator[Drawable]:
    for process in definitions.processes:
        yield from (found for lane in process.lanes for found in _lanes(lane))
        for scope in scopes(process.body):
            yield from _of_scope(scope)
    if definitions.collaboration is not None:
        yield from definitions.collaboration.participants
        yield from definitions.collaboration.message_flows
        yield from definitions.collaboration.annotations
        yield from definitions.collaboration.associations


def _of_scope(scope: Scope) -> Iterator[Drawable]:
    yield from scope.nodes
    yield from scope.flows
    yield from scope.annotations
    yield from scope.associations


def _lanes(lane: Lane) -> Iterator[Lane]:
    yield lane
    for inner in lane.lanes:
        yield from _lanes(inner)


def _defaults(elements: dict[str, Drawable]) -> Iterator[str]:
    for found in elements.values():
        if isinstance(found, Activity | Gateway) and found.default:
            yield found.default


def _shared(diagram: Diagram) -> Iterator[str]:
    beginnings: dict[tuple[Point, bool, bool, bool], list[str]] = {}
    for edge in diagram.edges:
        (x, y), (next_x, next_y) = edge.points[:2]
        beginnings.setdefault(((x, y), next_x > x, next_x < x, next_y > y), []).append(edge.element)
    return (element for together in beginnings.values() if len(together) > 1 for element in together)


def _hidden(diagram: Diagram, elements: dict[str, Drawable]) -> set[str]:
    """What is inside of a collapsed subprocess."""
    hidden: set[str] = set()
    for shape in diagram.shapes:
        found = elements.get(shape.element)
        if isinstance(found, SubProcess) and not shape.is_expanded:
            hidden |= {each.id for scope in scopes(found.body) for each in _of_scope(scope)}
    return hidden


def _shapes(scene: _Scene, diagram: Diagram) -> Iterator[str]:
    """From back to front: pools and lanes, subprocesses, lines, nodes, boundary events."""
    layers: list[list[str]] = [[] for _ in range(5)]
    for shape in sorted(diagram.shapes, key=lambda shape: -shape.bounds.width * shape.bounds.height):
        found = scene.elements[shape.element]
        match found:
            case Participant():
                layers[0].append(
                    _grouped(scene, found.id, "participant", draw_pool(found.name, shape, not found.process))
                )
            case Lane():
                layers[0].append(_grouped(scene, found.id, "band", draw_lane(found.name, shape)))
            case Annotation():
                layers[3].append(_grouped(scene, found.id, "artifact", draw_annotation(found, shape)))
            case Flow() | Association() | MessageFlow():
                pass
            case _:
                layer = 1 if isinstance(found, SubProcess) else 4 if _is_attached(found) else 3
                layers[layer].append(_grouped(scene, found.id, "node", draw_node(found, shape), found.name))
    for edge in sorted(diagram.edges, key=lambda edge: edge.element in scene.marks.path):
        found = scene.elements[edge.element]
        match found:
            case Flow():
                is_default, is_shared = found.id in scene.defaults, found.id in scene.shared
                picture = draw_flow(found, edge, is_default, _is_conditional(found, scene), is_shared)
                layers[2].append(_grouped(scene, found.id, "sequence", picture, found.name))
            case MessageFlow():
                layers[4].append(_grouped(scene, found.id, "messages", draw_message_flow(found, edge)))
            case Association():
                layers[2].append(_grouped(scene, found.id, "tie", draw_association(found, edge)))
            case _:
                pass
    return (part for layer in layers for part in layer)


def _is_attached(node: Node) -> bool:
    return isinstance(node, Event) and node.position == "boundary"


def _is_conditional(flow: Flow, scene: _Scene) -> bool:
    """Only flows of activities carry the diamond; those of gateways are understood."""
    source = scene.elements.get(flow.source)
    return flow.condition is not None and isinstance(source, Activity) and source.default != flow.id


def _grouped(scene: _Scene, id: str, kind: str, content: str, name: str = "") -> str:
    mark = scene.marks.elements.get(id, Mark())
    state = mark.state or ("failed" if mark.has_incident else "waiting" if mark.is_waiting else "")
    if not state and mark.tokens:
        state = "active"
    classes = " ".join(filter(None, [kind, state, "taken" if id in scene.marks.path else ""]))
    spoken = element("title", escaped(f"{name} ({id})" if name else id)) if kind in ("node", "sequence") else ""
    return group(spoken + content, class_=classes, data_element=id)


def _framed(diagram: Diagram, content: list[str], title: str, margin: float) -> str:
    box = _extent(diagram, TITLE_HEIGHT if title else 0.0, margin)
    heading = ""
    if title:
        at = {"x": box.x + margin, "y": box.y + margin + 8}
        heading = element("text", escaped(title), font_size=16.0, font_weight="600", **at)
    parts = [
        element("title", escaped(title)) if title else "",
        element("style", style_sheet()),
        rectangle(box.x, box.y, box.width, box.height, "page"),
        heading,
        *content,
    ]
    view = " ".join(map(number, (box.x, box.y, box.width, box.height)))
    made = element(
        "svg", "\n".join(filter(None, parts)), xmlns="http://www.w3.org/2000/svg", class_="perdure-bpmn", role="img",
        viewBox=view, width=box.width, height=box.height,
    )  # fmt: skip
    return made + "\n"


def _extent(diagram: Diagram, heading: float, margin: float) -> Bounds:
    boxes = [each.bounds for each in diagram.shapes]
    boxes += [each.label for each in diagram.shapes if each.label is not None]
    boxes += [each.label for each in diagram.edges if each.label is not None]
    boxes += [Bounds(x, y, 0, 0) for edge in diagram.edges for x, y in edge.points]
    box = cover(boxes)
    width, height = max(box.width, 1.0) + 2 * margin, max(box.height, 1.0) + 2 * margin + heading
    return Bounds(box.x - margin, box.y - margin - heading, width, height)
