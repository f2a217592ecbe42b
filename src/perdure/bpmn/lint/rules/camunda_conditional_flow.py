"""Camunda 8 evaluates conditions only after exclusive and inclusive gateways.

A conditional flow that leaves a task, an event or another gateway is refused. Draw an exclusive or inclusive gateway.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import Gateway, Node

CODE = "PRT116"
NAME = "camunda-conditional-flow"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for flow in index.flows.values():
        if flow.condition is not None and not _decides(index.nodes.get(flow.source)):
            fact = "Camunda 8 evaluates conditions only after exclusive and inclusive gateways"
            yield Note(flow.id, fact, "Draw an exclusive or inclusive gateway.")


def _decides(node: Node | None) -> bool:
    return node is None or (isinstance(node, Gateway) and node.kind in ("exclusive", "inclusive", "complex"))
