"""Camunda 8 accepts escalation boundary events only on subprocesses and call activities.

Attach the event to a subprocess.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    EscalationTrigger,
    Task,
)

CODE = "PRT107"
NAME = "camunda-escalation-host"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for event, _ in index.triggers(EscalationTrigger, "boundary"):
        if isinstance(index.nodes.get(event.attached_to), Task):
            fact = "Camunda 8 accepts escalation events only on subprocesses and call activities"
            yield Note(event.id, fact, "Attach it to a subprocess.")
