"""Camunda 8 has no event subprocess started by compensation.

Attach a compensation boundary event with a handler.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    CompensationTrigger,
)

CODE = "PRT113"
NAME = "camunda-compensation-subprocess"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for event, _ in index.triggers(CompensationTrigger, "start"):
        fact = "Camunda 8 has no event subprocess started by compensation"
        yield Note(event.id, fact, "Attach a compensation boundary event with a handler.")
