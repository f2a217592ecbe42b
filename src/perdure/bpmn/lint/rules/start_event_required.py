"""A process or subprocess has no start event.

Without one it is not said where a token begins. A receive task or event gateway that instantiates counts as a start;
an ad-hoc subprocess has none. How an event subprocess starts is another rule.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM104"
NAME = "start-event-required"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for room in index.rooms:
        if room.kind() not in ("ad_hoc", "event") and room.body.nodes and not index.has_start(room):
            yield Note(room.id, "it has no start event", "Add a start event.")
