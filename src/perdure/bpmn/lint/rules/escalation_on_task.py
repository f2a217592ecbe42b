"""An escalation is caught on an activity that cannot raise one.

Escalations come out of subprocesses and called processes. On a task the event never occurs.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    EscalationTrigger,
    Task,
)

CODE = "BPM154"
NAME = "escalation-on-task"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for event, _ in index.triggers(EscalationTrigger, "boundary"):
        if isinstance(index.nodes.get(event.attached_to), Task):
            fact = f"'{event.attached_to}' is a task and raises no escalation"
            yield Note(event.id, fact, "Attach it to a subprocess, or use a timer to escalate.")
