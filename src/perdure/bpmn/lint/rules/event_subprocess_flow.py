"""An event subprocess has sequence flows.

It is triggered by its event, never entered by a flow, and nothing follows it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM121"
NAME = "event-subprocess-flow"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for node in index.subprocesses("event"):
        if index.incoming(node.id) or index.outgoing(node.id):
            yield Note(node.id, "it is an event subprocess and has sequence flows", "Remove the flows.")
        if index.boundaries.get(node.id):
            yield Note(node.id, "it is an event subprocess and has boundary events", "Remove them.")
