"""Conditional events need a recent Camunda 8.

They are accepted from 8.9 on; older clusters refuse the deployment. A message or an exclusive gateway works on all.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    ConditionalTrigger,
)

CODE = "PRT105"
NAME = "camunda-conditional-event"
SEVERITIES = Severities("warning", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for event, _ in index.triggers(ConditionalTrigger):
        yield Note(event.id, "conditional events need Camunda 8.9 or later", "Use a message, or an exclusive gateway.")
