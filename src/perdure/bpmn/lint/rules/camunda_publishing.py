"""Camunda 8 does not publish messages by itself.

A send task or throwing message event needs a verb as type that sends the message; here the engine publishes it when
none is named.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    MessageTrigger,
)

CODE = "PRT117"
NAME = "camunda-publishing"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for event, _ in index.triggers(MessageTrigger, "throw", "end"):
        if not event.type:
            yield _typeless(event.id)
    for task in index.tasks("send"):
        if not task.type:
            yield _typeless(task.id)


def _typeless(element: str) -> Note:
    return Note(element, "Camunda 8 needs a verb that sends the message", "Give it the name of a verb as type.")
