"""A loop never waits.

Camunda 8 refuses loops of gateways and of manual or undefined tasks only, because they would never give way. Put a
service task, user task or event in the loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flow_graph import knots
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    Gateway,
    Node,
    Task,
)

CODE = "PRT114"
NAME = "camunda-loop-without-wait"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    after = {
        node.id: [flow.target for flow in index.outgoing(node.id)] for node in index.nodes.values() if _passes(node)
    }
    for knot in knots(after):
        plain = [id for id in knot if isinstance(index.nodes[id], Task)]
        if plain:
            yield Note(plain[0], f"the loop through it never waits ({len(knot)} elements)", "Put a service task in it.")


def _passes(node: Node) -> bool:
    if isinstance(node, Task):
        return node.kind in ("none", "manual")
    return isinstance(node, Gateway) and node.kind != "event"
