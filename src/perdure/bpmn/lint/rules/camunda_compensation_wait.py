"""Camunda 8 always waits for compensation to end.

A compensation event that does not wait is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    CompensationTrigger,
)

CODE = "PRT108"
NAME = "camunda-compensation-wait"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for event, trigger in index.triggers(CompensationTrigger, "throw", "end"):
        if not trigger.waits:
            yield Note(event.id, "Camunda 8 always waits for compensation", "Set waitForCompletion to true.")
