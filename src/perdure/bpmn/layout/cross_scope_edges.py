"""Edges across scopes: message flows, associations and flows between scopes, led around shapes."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from perdure.bpmn.layout.boxes import Block, Point, tidy
from perdure.bpmn.layout.flow_labels import label_edges
from perdure.bpmn.layout.obstacle_router import Budget, search
from perdure.bpmn.layout.spatial_index import Index, Lines
from perdure.bpmn.model import Bounds, Definitions, Edge, Scope, SubProcess, scopes


class Tie(msgspec.Struct, frozen=True):
    """Something to be joined by a line."""

    element: str
    source: str
    target: str
    name: str = ""


def tie(definitions: Definitions, page: Block) -> list[Edge]:
    """Lines for everything that has none yet and whose ends are on the page."""
    bounds = {shape.element: shape.bounds for shape in page.shapes}
    done = {edge.element for edge in page.edges}
    for edge in page.edges:
        bounds.setdefault(edge.element, _middle(edge))
    open_ties = [
        each
        for each in _ties(definitions)
        if each.element not in done and each.source in bounds and each.target in bounds
    ]
    if not open_ties:
        return []
    index = _obstacles(definitions, bounds)
    budget, lines = Budget(), Lines()
    for edge in page.edges:
        lines.add(edge.points)
    containers = _containers(definitions)
    for shape in page.shapes:
        if shape.element in containers:
            lines.add(_outline(shape.bounds))
        if shape.label is not None:
            index.add(shape.label)
    edges = []
    for each in open_ties:
        one, other = bounds[each.source], bounds[each.target]
        points = tidy(search(one, other, index, lines, budget))
        lines.add(points)
        edges.append(Edge(element=each.element, points=points))
    names = {each.element: each.name for each in open_ties}
    leaves = [shape for shape in page.shapes if shape.element not in containers]
    return label_edges(edges, names, leaves)


def _ties(definitions: Definitions) -> Iterator[Tie]:
    for process in definitions.processes:
        for scope in scopes(process.body):
            for association in scope.associations:
                yield Tie(association.id, association.source, association.target)
            for flow in scope.flows:
                yield Tie(flow.id, flow.source, flow.target, flow.name)
    if definitions.collaboration is not None:
        for association in definitions.collaboration.associations:
            yield Tie(association.id, association.source, association.target)
        for message in definitions.collaboration.message_flows:
            yield Tie(message.id, message.source, message.target, message.name)


def _containers(definitions: Definitions) -> set[str]:
    """What lines may run into: pools, lanes, and subprocesses that hold something."""
    found = {each.id for each in definitions.collaboration.participants} if definitions.collaboration else set()
    for process in definitions.processes:
        found |= {lane.id for outer in process.lanes for lane in [outer, *outer.lanes]}
        for scope in scopes(process.body):
            found |= {node.id for node in scope.nodes if isinstance(node, SubProcess) and node.body.nodes}
    return found


def _obstacles(definitions: Definitions, bounds: dict[str, Bounds]) -> Index:
    index = Index()
    for process in definitions.processes:
        for scope in scopes(process.body):
            for element in _solid(scope):
                if element in bounds:
                    index.add(bounds[element])
    return index


def _solid(scope: Scope) -> Iterator[str]:
    for node in scope.nodes:
        if not (isinstance(node, SubProcess) and node.body.nodes):
            yield node.id
    for annotation in scope.annotations:
        yield annotation.id


def _outline(box: Bounds) -> tuple[Point, ...]:
    right, bottom = box.x + box.width, box.y + box.height
    return ((box.x, box.y), (right, box.y), (right, bottom), (box.x, bottom), (box.x, box.y))


def _middle(edge: Edge) -> Bounds:
    """A point on a line, for what is tied to the line itself."""
    longest: tuple[Point, Point] = max(
        zip(edge.points, edge.points[1:], strict=False),
        key=lambda piece: abs(piece[0][0] - piece[1][0]) + abs(piece[0][1] - piece[1][1]),
    )
    (x, y), (other_x, other_y) = longest
    return Bounds((x + other_x) / 2, (y + other_y) / 2, 0, 0)
