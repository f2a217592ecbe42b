"""A service task does not say which verb it calls.

No worker would serve it. Give it the name of a verb as type.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, is_named

CODE = "BPM145"
NAME = "task-without-type"
SEVERITIES = Severities("error", contract="off")


def check(index: Index) -> Iterator[Note]:
    for task in index.tasks("service", "business_rule"):
        if not is_named(task.type):
            yield Note(task.id, "it names no verb", "Give it the name of a verb as type.")
    for task in index.tasks("send"):
        if not is_named(task.type) and not task.message:
            yield Note(task.id, "it names neither a verb nor a message", "Give it one of the two.")
