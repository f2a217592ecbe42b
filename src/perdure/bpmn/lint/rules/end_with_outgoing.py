"""A flow leaves an end event.

An end is where tokens are consumed. Use an intermediate event where the path goes on.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM137"
NAME = "end-with-outgoing"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for event in index.events("end"):
        if index.outgoing(event.id):
            yield Note(event.id, "a flow leaves it", "Make it an intermediate throwing event.")
