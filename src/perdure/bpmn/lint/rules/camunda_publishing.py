"""A message that Camunda 8 is to send has no verb.

A send task or throwing message event needs a type there, or a `zeebe:publishMessage`, which is not read here. Name a
verb that sends the message; on the embedded engine the message is published when none is named.
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
    return Note(element, "on Camunda 8 no verb sends its message", "Give it the name of a verb as type.")
