"""An event that always interrupts is drawn as not interrupting.

An error and a cancel end what they are attached to; the activity cannot go on beside them.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    CancelTrigger,
    ErrorTrigger,
)

CODE = "BPM141"
NAME = "must-interrupt"
SEVERITIES = Severities("error")


_ALWAYS = (ErrorTrigger, CancelTrigger)


def check(index: Index) -> Iterator[Note]:
    for event in index.events("boundary", "start"):
        if not event.is_interrupting and any(isinstance(trigger, _ALWAYS) for trigger in event.triggers):
            yield Note(event.id, "it always interrupts and is drawn as not interrupting", "Draw it interrupting.")
