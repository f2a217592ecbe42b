"""A process or subprocess does not begin at one place, or does not end.

Each has exactly one none start event and at least one end event: where a token begins and ends is drawn, never
guessed.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import Event

CODE = "AME043"
NAME = "start-and-end-count"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for room in index.rooms:
        starts = index.starts(room)
        ends = [node for node in room.body.nodes if isinstance(node, Event) and node.position == "end"]
        if len(starts) != 1:
            yield Note(room.id, f"it has {len(starts)} start events", "Give it exactly one none start event.")
        if not ends:
            yield Note(room.id, "it has no end event", "Let every path lead to an end event.")
