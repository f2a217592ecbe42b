"""An element is connected to nothing.

No token ever reaches it and none leaves it. Connect it, or remove it. A process that is but one task may stand for
itself; one that is but a start event begins nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, triggers_of
from perdure.bpmn.model import (
    CompensationTrigger,
    Event,
    Gateway,
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
        if isinstance(node, Event) and node.position == "boundary":
            yield Note(node.id, "no flow leaves it", "Lead it to what is to happen then.")
            continue
        if node.id in index.compensates and not isinstance(node, (Event, Gateway)):
            continue
        room = index.room_of[node.id]
        is_lone_start = room.parent is None and isinstance(node, Event) and node.position == "start"
        if len(room.body.nodes) > 1 or is_lone_start:
            yield Note(node.id, "nothing leads to it and it leads nowhere", "Connect it, or remove it.")
