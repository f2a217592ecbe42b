"""A flow leads to a boundary event.

A boundary event is reached when it occurs while its activity is open, never by a flow.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM138"
NAME = "boundary-with-incoming"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for event in index.events("boundary"):
        if index.incoming(event.id):
            yield Note(event.id, "a flow leads to it", "Lead the flow to what follows the event.")
