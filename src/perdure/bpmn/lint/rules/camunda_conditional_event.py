"""Camunda 8 has conditional events from 8.9 on.

Older clusters refuse the deployment: `--target camunda` and every release before `camunda:8.9` are refused here. A
message or an exclusive gateway works on all.
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
SEVERITIES = Severities("error", targets=("camunda",))
_WITH = ("8.9",)
"""Releases that have them."""


def check(index: Index) -> Iterator[Note]:
    if index.release in _WITH:
        return
    for event, _ in index.triggers(ConditionalTrigger):
        fact = f"Camunda {index.release} has no conditional events, which came with 8.9"
        yield Note(event.id, fact, "Use a message or an exclusive gateway, or say --target camunda:8.9.")
