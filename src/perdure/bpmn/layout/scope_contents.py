"""The contents of a scope: nodes of the flow, elements attached to a node, elements that stand alone."""

from __future__ import annotations

import msgspec

from perdure.bpmn.layout.boxes import Block
from perdure.bpmn.layout.node_attachments import Clinging, Slot, is_compensation, make_slot
from perdure.bpmn.layout.sizes import SHOWN_ANNOTATIONS, annotation_size
from perdure.bpmn.layout.text_metrics import label_size
from perdure.bpmn.model import (
    Annotation,
    Association,
    Bounds,
    CallActivity,
    Event,
    Node,
    Scope,
    Shape,
    SubProcess,
    Task,
)  # fmt: skip


class LooseWire(msgspec.Struct, frozen=True):
    """A flow between two slots, by their nodes."""

    flow: str
    name: str
    source: str
    target: str
    exit: str = ""


class Gathered(msgspec.Struct, frozen=True):
    """The slots of a scope in the order of the file, the flows between them, annotations about nothing."""

    slots: list[Slot]
    wires: list[LooseWire]
    loose: list[Slot]
    here: set[str]
    """Everything that stands in this scope itself."""


class _Content(msgspec.Struct, frozen=True):
    scope: Scope
    bodies: dict[str, Block]
    nodes: dict[str, Node]
    hosts: dict[str, str]
    """Boundary event to host."""
    boundary: dict[str, list[Event]]
    handled: dict[str, Association]
    """Compensation handler to its association."""
    handlers: dict[str, list[str]]
    """Compensation event to its handlers."""
    noted: dict[str, list[tuple[Association, Annotation]]]
    exits: frozenset[str]


def gather(scope: Scope, bodies: dict[str, Block]) -> Gathered:
    """Make a slot of every node that does not cling to another."""
    content = _content(scope, bodies)
    slots = [
        _slot(node, content) for node in scope.nodes if node.id not in content.hosts and node.id not in content.handled
    ]
    wires = []
    for flow in scope.flows:
        if flow.source in content.nodes and flow.target in content.nodes:
            host = content.hosts.get(flow.source)
            exit = flow.source if host else ""
            wires.append(LooseWire(flow.id, flow.name, host or flow.source, flow.target, exit))
    placed = {annotation.id for pairs in content.noted.values() for _, annotation in pairs}
    loose = [_loose(each) for each in scope.annotations if each.kind in SHOWN_ANNOTATIONS and each.id not in placed]
    here = {*content.nodes, *(each.id for each in scope.annotations)}
    return Gathered(slots, wires, loose, here)


def _content(scope: Scope, bodies: dict[str, Block]) -> _Content:
    nodes = {node.id: node for node in scope.nodes}
    entered = {flow.target for flow in scope.flows}
    left = {flow.source for flow in scope.flows}
    hosts = {
        node.id: node.attached_to
        for node in scope.nodes
        if isinstance(node, Event) and node.position == "boundary" and node.id not in entered
        if isinstance(nodes.get(node.attached_to), Task | SubProcess | CallActivity)
    }
    busy = entered | left | set(hosts.values())
    handled = _handled(scope, nodes, hosts, busy)
    boundary: dict[str, list[Event]] = {}
    for event_id, host in hosts.items():
        event = nodes[event_id]
        assert isinstance(event, Event)
        boundary.setdefault(host, []).append(event)
    handlers: dict[str, list[str]] = {}
    for handler, association in handled.items():
        event_id = association.source if association.source in hosts else association.target
        handlers.setdefault(event_id, []).append(handler)
    noted = _noted(scope, nodes, hosts, handled)
    return _Content(scope, bodies, nodes, hosts, boundary, handled, handlers, noted, frozenset(left))


def _handled(scope: Scope, nodes: dict[str, Node], hosts: dict[str, str], busy: set[str]) -> dict[str, Association]:
    found: dict[str, Association] = {}
    for association in scope.associations:
        ends = (association.source, association.target)
        for event_id, handler_id in (ends, ends[::-1]):
            event, handler = nodes.get(event_id), nodes.get(handler_id)
            is_handler = isinstance(handler, Task | SubProcess | CallActivity) and handler_id not in busy
            if is_handler and event_id in hosts and isinstance(event, Event) and is_compensation(event):
                found.setdefault(handler_id, association)
    return found


def _noted(
    scope: Scope, nodes: dict[str, Node], hosts: dict[str, str], handled: dict[str, Association]
) -> dict[str, list[tuple[Association, Annotation]]]:
    annotations = {each.id: each for each in scope.annotations if each.kind in SHOWN_ANNOTATIONS}
    found: dict[str, list[tuple[Association, Annotation]]] = {}
    placed: set[str] = set()
    for association in scope.associations:
        ends = (association.source, association.target)
        for note, node in (ends, ends[::-1]):
            is_about_slot = node in nodes and node not in hosts and node not in handled
            if note in annotations and note not in placed and is_about_slot:
                placed.add(note)
                found.setdefault(node, []).append((association, annotations[note]))
    return found


def _slot(node: Node, content: _Content) -> Slot:
    boundary = tuple(content.boundary.get(node.id, ()))
    handlers = tuple(
        (content.handled[handler], make_slot(content.nodes[handler], content.bodies.get(handler), Clinging()))
        for event in boundary
        for handler in content.handlers.get(event.id, ())
    )
    clinging = Clinging(boundary, handlers, tuple(content.noted.get(node.id, ())), content.exits)
    return make_slot(node, content.bodies.get(node.id), clinging)


def _loose(annotation: Annotation) -> Slot:
    width, height = annotation_size(annotation)
    label_width, label_height = label_size(annotation.name) if annotation.kind != "text" else (0.0, 0.0)
    label = Bounds(-label_width / 2, height / 2 + 2, label_width, label_height) if label_width else None
    shape = Shape(element=annotation.id, bounds=Bounds(-width / 2, -height / 2, width, height), label=label)
    side = max(width, label_width) / 2
    below = height / 2 + (label_height + 2 if label_width else 0)
    return Slot(annotation.id, width, height, side, side, height / 2, below, [shape], [], {})
