"""A process or subprocess has no end event.

It ends when no token is left, but a reader cannot see where. Draw the ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    Event,
)

CODE = "BPM105"
NAME = "end-event-required"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for room in index.rooms:
        if room.kind() == "ad_hoc" or not room.body.nodes:
            continue
        if not any(isinstance(node, Event) and node.position == "end" for node in room.body.nodes):
            yield Note(room.id, "it has no end event", "Add an end event where a path ends.")
