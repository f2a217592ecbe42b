"""Flows of the model: the edges of a workflow with their conditions, and the events at the edges of its tasks."""

from __future__ import annotations

from typing import Any

from perdure.bpmn.conditions.tree import Compare
from perdure.workflows.element_parts import add_event, default_way, needs_verb
from perdure.workflows.graph import Edge
from perdure.workflows.handlers import gateway_flag, route_flag
from perdure.workflows.nodes import EventBasedGateway, ExclusiveGateway, InclusiveGateway
from perdure.workflows.parts import Parts
from perdure.workflows.variables import mirrored


def add_boundaries(parts: Parts) -> None:
    for boundary in parts.graph.boundaries:
        add_event(parts, boundary.event, "boundary", boundary.host, boundary.interrupts)
        parts.flow(boundary.event.id, parts.entries.get(boundary.target, boundary.target))


def add_flows(parts: Parts) -> None:
    for source in list(parts.graph.nodes):
        for edge in _ordered(parts, source):
            _add(parts, edge)


def _ordered(parts: Parts, source: str) -> list[Edge]:
    """The ways out of a node; those of a gateway in the order in which its conditions are asked."""
    node, edges = parts.graph.nodes[source], parts.graph.out(source)
    if not isinstance(node, ExclusiveGateway):
        return edges
    routes = node.routes
    return sorted(edges, key=lambda edge: routes.index(edge.route) if edge.route in routes else 0)


def _add(parts: Parts, edge: Edge) -> None:
    node = parts.graph.nodes[edge.source]
    target = parts.entries.get(edge.target, edge.target)
    if isinstance(node, EventBasedGateway):
        for route, event in node.events.items():
            if edge.route in ("", route):
                if not any(each.source == node.id and each.target == event.id for each in parts.flows):
                    parts.flow(node.id, event.id, id=f"{node.id}__{route}", name=route)
                parts.flow(event.id, target)
        return
    if isinstance(node, ExclusiveGateway) and edge.route:
        parts.flow(node.id, target, id=f"{node.id}__{edge.route}", name=edge.route, **_condition(node, edge.route))
        return
    parts.flow(parts.exits.get(edge.source, edge.source), target)


def _condition(gateway: ExclusiveGateway, route: str) -> dict[str, Any]:
    """The condition of a way; the default has none."""
    if route == default_way(gateway):
        return {}
    if isinstance(gateway, InclusiveGateway) and needs_verb(gateway):
        return {"condition": Compare(route_flag(gateway.id, route), "=", True)}
    if needs_verb(gateway):
        return {"condition": Compare(gateway_flag(gateway.id), "=", route)}
    text = gateway.conditions[route]
    assert isinstance(text, str)
    return {"condition": mirrored(text)[0]}
