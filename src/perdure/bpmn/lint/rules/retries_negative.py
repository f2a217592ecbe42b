"""A task is tried a negative number of times.

Zero means that the first failure is an incident.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.model import (
    Event,
    Task,
)

CODE = "BPM161"
NAME = "retries-negative"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        retries = node.retries if isinstance(node, (Task, Event)) else None
        if retries is not None and retries < 0:
            yield Note(node.id, f"it is retried {retries} times", "Write 0 or more.")
