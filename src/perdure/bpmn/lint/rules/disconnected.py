"""An element is connected to nothing.

No token ever reaches it and none leaves it. Connect it, or remove it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index, triggers_of
from perdure.bpmn.model import (
    CompensationTrigger,
    Event,
)

CODE = "BPM107"
NAME = "disconnected"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        if index.is_apart(node) or index.incoming(node.id) or index.outgoing(node.id):
            continue
        if isinstance(node, Event) and triggers_of(node, CompensationTrigger) and node.position == "boundary":
            continue
        if len(index.room_of[node.id].body.nodes) > 1:
            yield Note(node.id, "nothing leads to it and it leads nowhere", "Connect it, or remove it.")
