"""Camunda 8 has no complex gateway.

Use parallel and exclusive gateways, or run the process on the embedded engine.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "PRT101"
NAME = "camunda-complex-gateway"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for gateway in index.gateways("complex"):
        yield Note(gateway.id, "Camunda 8 has no complex gateway", "Use parallel and exclusive gateways.")
