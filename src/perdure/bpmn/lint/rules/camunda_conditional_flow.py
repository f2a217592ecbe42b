"""Camunda 8 evaluates conditions only after gateways.

A conditional flow or a default flow that leaves a task is refused. Draw an exclusive or inclusive gateway after it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    CallActivity,
    SubProcess,
    Task,
)

CODE = "PRT116"
NAME = "camunda-conditional-flow"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for flow in index.flows.values():
        if flow.condition is not None and isinstance(index.nodes.get(flow.source), (Task, SubProcess, CallActivity)):
            fact = "Camunda 8 evaluates conditions only after gateways"
            yield Note(flow.id, fact, "Draw an exclusive or inclusive gateway.")
