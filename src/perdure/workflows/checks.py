"""Checks of a workflow before it is compiled: what leads nowhere, what nothing leads to, names that nobody knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from perdure.errors import DefinitionError, Problem
from perdure.workflows.code import check_timeout
from perdure.workflows.graph import Graph
from perdure.workflows.mirrors import events_of
from perdure.workflows.nodes import (
    NAME,
    CallActivity,
    EndEvent,
    EventBasedGateway,
    ExclusiveGateway,
    InclusiveGateway,
    MessageEvent,
    Node,
    ScriptTask,
    ServiceTask,
    StartEvent,
    UserTask,
)
from perdure.workflows.places import problem

if TYPE_CHECKING:
    from perdure.workflows.workflow import Workflow

_BRACES = re.compile(r"\{([^{}]*)\}")
_GIVEN = frozenset(("instance_id", "workflow_id", "workflow_version"))


def problems_of(workflow: Workflow) -> Iterator[Problem]:
    graph = workflow.graph
    for host, place in graph.ends:
        if not graph.out(host):
            graph.connect(host, "end", place)
    if not graph.of_type(StartEvent):
        yield problem(workflow.place, "start", workflow.id, "nothing begins it", "Write workflow.start().then(…).")
    yield from _edges(graph)
    known = known_variables(workflow)
    for node in graph.nodes.values():
        yield from _node(graph, node, known)
    for event in events_of(workflow):
        if isinstance(event, MessageEvent) and not event.correlation and not _begins(graph, event):
            hint = f"Write MessageEvent('{event.id}', correlation='…') with the variable that the message carries."
            yield problem(event.place, "message", event.id, "nothing says which instance it is for", hint)


def known_variables(workflow: Workflow) -> frozenset[str]:
    """Every variable that is declared, read or written somewhere."""
    found = {*workflow.variables, *_GIVEN}
    for node in workflow.graph.nodes.values():
        found.update(getattr(node, "input_variables", ()))
        found.update(written_by(node))
    for event in events_of(workflow):
        found.update(getattr(event, "output_variables", ()))
    return frozenset(found)


def written_by(node: Node) -> tuple[str, ...]:
    match node:
        case ServiceTask():
            return node.output_variables
        case ScriptTask():
            return (node.output_variable,) if node.output_variable else ()
        case UserTask():
            return (node.decision_variable,)
        case _:
            return ()


def _edges(graph: Graph) -> Iterator[Problem]:
    for edge in graph.edges:
        for id in (edge.source, edge.target):
            if id not in graph.nodes:
                fact = f"there is no node '{id}'"
                hint = f"Add it: add_node(…), or name one of {', '.join(list(graph.nodes)[:8])}."
                yield problem(edge.place, "edge", f"{edge.source} -> {edge.target}", fact, hint)
    for boundary in graph.boundaries:
        host = graph.nodes.get(boundary.host)
        if not isinstance(host, ServiceTask | ScriptTask | UserTask | CallActivity):
            fact = f"'{boundary.host}' is no task"
            yield problem(
                boundary.place, "boundary", boundary.event.id, fact, "Attach it to a task or a called workflow."
            )


def _node(graph: Graph, node: Node, known: frozenset[str]) -> Iterator[Problem]:
    is_start, is_end = isinstance(node, StartEvent), isinstance(node, EndEvent)
    if not is_end and not graph.out(node.id):
        hint = f"Write add_edge('{node.id}', 'end'), or .end() at the end of the chain."
        yield problem(node.place, "edge", node.id, "it leads nowhere", hint)
    attached = {boundary.target for boundary in graph.boundaries}
    if not is_start and not graph.into(node.id) and node.id not in attached:
        yield problem(node.place, "edge", node.id, "nothing leads to it", f"Write add_edge('…', '{node.id}').")
    if isinstance(node, ServiceTask):
        yield from _caught(node)
    if isinstance(node, UserTask):
        yield from _body(node, known)
    if isinstance(node, ExclusiveGateway | EventBasedGateway):
        yield from _routes(graph, node)


def _caught(node: ServiceTask) -> Iterator[Problem]:
    try:
        check_timeout(node)
    except DefinitionError as error:
        yield from error.problems


def _body(node: UserTask, known: frozenset[str]) -> Iterator[Problem]:
    for inside in _BRACES.findall(node.body_template):
        if not NAME.fullmatch(inside):
            fact = f"its body template has '{{{inside[:60]}}}', and nothing is evaluated in a template"
            yield problem(node.place, "template", node.id, fact, "Write the name of a variable: {approved}.")
        elif inside not in known:
            fact = f"its body template names '{inside}', and no variable is called so"
            hint = f"Declare it: Workflow(…, variables={{'{inside}': 'string'}})."
            yield problem(node.place, "template", node.id, fact, hint)


def _routes(graph: Graph, node: ExclusiveGateway | EventBasedGateway) -> Iterator[Problem]:
    routes = list(node.events) if isinstance(node, EventBasedGateway) else node.routes
    out = graph.out(node.id)
    gone = {edge.route for edge in out}
    is_join = isinstance(node, InclusiveGateway) and node.mode == "join"
    if not routes and not is_join and len(out) > 1:
        yield problem(node.place, "route", node.id, "it has several ways and no condition", "Give conditions={…}.")
    if "" in gone and len(gone) > 1 and routes:
        yield problem(node.place, "route", node.id, "one of its ways has no route", f"Name it: {', '.join(routes)}.")
    for route in routes if "" not in gone else ():
        if route not in gone:
            hint = f"Write .route('{route}', …), or add_conditional_edge('{node.id}', '{route}', …)."
            yield problem(node.place, "route", node.id, f"its route '{route}' leads nowhere", hint)
    for edge in out:
        if edge.route and edge.route not in routes:
            fact = f"'{node.id}' has no route '{edge.route}'"
            yield problem(edge.place, "route", node.id, fact, f"It has: {', '.join(routes) or 'none'}.")


def _begins(graph: Graph, event: MessageEvent) -> bool:
    return any(isinstance(node, StartEvent) and node.event is event for node in graph.nodes.values())
