"""A subprocess starts with an event that never occurs.

A subprocess is entered by a flow, so its start event is a none event.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM122"
NAME = "subprocess-start"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for room in index.rooms:
        if room.kind() in ("embedded", "transaction"):
            for start in index.starts(room):
                if start.triggers:
                    fact = f"it starts the subprocess '{room.id}' and has a trigger"
                    yield Note(start.id, fact, "Make it a none event, or the subprocess an event subprocess.")
