"""A signal reaches other instances through the platform.

Temporal's signals go to one workflow. A BPMN signal is for everyone who listens, so our runtime carries it; instances
on other engines hear it only through the same store.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    SignalTrigger,
)

CODE = "PRT202"
NAME = "temporal-broadcast"
SEVERITIES = Severities("warning", targets=("temporal",))


def check(index: Index) -> Iterator[Note]:
    for event, _ in index.triggers(SignalTrigger):
        yield Note(event.id, "on Temporal signals are carried by the platform", "To reach one instance use a message.")
