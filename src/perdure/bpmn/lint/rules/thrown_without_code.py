"""An error or escalation is thrown without a code.

Who catches it looks for a code. Give the event an error or escalation that has one.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, is_named
from perdure.bpmn.model import (
    ErrorTrigger,
    EscalationTrigger,
)

CODE = "BPM153"
NAME = "thrown-without-code"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for event, error in index.triggers(ErrorTrigger, "end", "throw"):
        named = index.errors.get(error.error)
        if named is None or not is_named(named.code):
            yield Note(event.id, "it throws an error without a code", "Choose an error that has a code.")
    for event, escalation in index.triggers(EscalationTrigger, "end", "throw"):
        raised = index.escalations.get(escalation.escalation)
        if raised is None or not is_named(raised.code):
            yield Note(event.id, "it throws an escalation without a code", "Choose an escalation that has a code.")
