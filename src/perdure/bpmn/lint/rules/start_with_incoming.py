"""A flow leads to a start event.

A start is where tokens begin. To repeat, lead the flow to what follows the start.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM136"
NAME = "start-with-incoming"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for event in index.events("start"):
        if index.incoming(event.id):
            yield Note(event.id, "a flow leads to it", "Lead the flow to what follows the start.")
