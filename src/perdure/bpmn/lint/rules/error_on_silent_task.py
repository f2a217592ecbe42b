"""An error is caught on a task that cannot raise one.

Only verbs, subprocesses and called processes raise errors. On a manual, receive or undefined task the event never
occurs.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    ErrorTrigger,
    Task,
)

CODE = "BPM155"
NAME = "error-on-silent-task"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for event, _ in index.triggers(ErrorTrigger, "boundary"):
        host = index.nodes.get(event.attached_to)
        if isinstance(host, Task) and host.kind in ("none", "manual", "receive") and "intake" not in host.properties:
            fact = f"'{host.id}' calls no verb and raises no error"
            yield Note(event.id, fact, "Attach it to a service task or subprocess.")
