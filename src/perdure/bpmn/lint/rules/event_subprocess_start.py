"""An event subprocess does not start with exactly one typed event.

The start event says what triggers it: a message, timer, signal, error, escalation, condition or compensation.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM120"
NAME = "event-subprocess-start"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for room in index.rooms:
        if room.kind() != "event" or not room.body.nodes:
            continue
        starts = index.starts(room)
        if len(starts) != 1:
            fact = f"it is an event subprocess with {len(starts)} start events"
            yield Note(room.id, fact, "Give it exactly one, with the event that triggers it.")
        elif not starts[0].triggers:
            yield Note(starts[0].id, "it starts an event subprocess and names no event", "Choose what triggers it.")
