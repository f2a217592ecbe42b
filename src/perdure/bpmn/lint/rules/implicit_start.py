"""An element has no incoming flow and is not a start.

Where a scope has a start event, only that gets a token: whatever has no incoming flow is never reached.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, triggers_of
from perdure.bpmn.model import (
    Event,
    LinkTrigger,
)

CODE = "BPM108"
NAME = "implicit-start"
SEVERITIES = Severities("error", contract="off")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        if index.incoming(node.id) or not index.outgoing(node.id) or index.is_apart(node):
            continue
        if isinstance(node, Event) and (node.position in ("start", "boundary") or triggers_of(node, LinkTrigger)):
            continue
        if not index.is_instantiating(node) and index.has_start(index.room_of[node.id]):
            yield Note(node.id, "nothing leads to it and it is not a start", "Lead a flow to it, or remove it.")
