"""A loop never waits.

Camunda 8 refuses loops of gateways and of manual or undefined tasks only, because they would never give way; so it does
with processes of one file that call each other in a circle without a wait. Put a service task, user task or event in
the loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flow_graph import knots
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import CallActivity, Event, Gateway, Node, Process, Task

CODE = "PRT114"
NAME = "camunda-loop-without-wait"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    starts = {process.id: _begins(process) for process in index.processes}
    after = {node.id: _next(index, node, starts) for node in index.nodes.values() if _passes(node)}
    for knot in knots(after):
        plain = [id for id in knot if isinstance(index.nodes[id], (Task, CallActivity))]
        if plain:
            yield Note(plain[0], f"the loop through it never waits ({len(knot)} elements)", "Put a service task in it.")


def _begins(process: Process) -> list[str]:
    return [node.id for node in process.body.nodes if _is_plain_start(node)]


def _next(index: Index, node: Node, starts: dict[str, list[str]]) -> list[str]:
    if isinstance(node, CallActivity):
        return starts.get(node.process, [])
    return [flow.target for flow in index.outgoing(node.id)]


def _is_plain_start(node: Node) -> bool:
    return isinstance(node, Event) and node.position == "start" and not node.triggers


def _passes(node: Node) -> bool:
    if isinstance(node, Task):
        return node.kind in ("none", "manual")
    if isinstance(node, CallActivity):
        return node.repeat is None
    return _is_plain_start(node) or (isinstance(node, Gateway) and node.kind != "event")
