"""A call activity starts a process inside a process.

A durable verb composes sync verbs only; another long process is handed to by message, so that each has its own life,
retries and audit. The open profile allows call activities.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    CallActivity,
)

CODE = "HOL013"
NAME = "call-activity"
SEVERITIES = Severities("error", open="off")


def check(index: Index) -> Iterator[Note]:
    for node in index.each(CallActivity):
        yield Note(node.id, f"it calls the process '{node.process}'", "Hand over by message, or use the open profile.")
