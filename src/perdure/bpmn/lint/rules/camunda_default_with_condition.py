"""Camunda 8 refuses a default flow that has a condition.

Remove the condition: the default is taken when nothing else is.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "PRT115"
NAME = "camunda-default-with-condition"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for gateway in index.gateways():
        flow = index.flows.get(gateway.default)
        if flow is not None and flow.condition is not None:
            yield Note(flow.id, "Camunda 8 refuses a default flow with a condition", "Remove the condition.")
