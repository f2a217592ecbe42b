"""Camunda 8 has no transactions and no cancel events.

Use a subprocess with compensation and an error event.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    CancelTrigger,
)

CODE = "PRT102"
NAME = "camunda-transaction"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for node in index.subprocesses("transaction"):
        yield Note(node.id, "Camunda 8 has no transactions", "Use a subprocess with compensation and an error event.")
    for event, _ in index.triggers(CancelTrigger):
        yield Note(event.id, "Camunda 8 has no cancel events", "Use an error event and compensation.")
