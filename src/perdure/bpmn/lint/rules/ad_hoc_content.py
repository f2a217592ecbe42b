"""An ad-hoc subprocess has a start or end event, or an event that leads nowhere.

Its activities are done in any order, so it has no start and no end; an event in it leads on to an activity.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.model import (
    Event,
)

CODE = "BPM135"
NAME = "ad-hoc-content"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for room in index.rooms:
        for node in room.body.nodes if room.kind() == "ad_hoc" else ():
            if isinstance(node, Event) and node.position in ("start", "end"):
                yield Note(node.id, f"an ad-hoc subprocess has no {node.position} event", "Remove it.")
            elif isinstance(node, Event) and node.position == "catch" and not index.outgoing(node.id):
                yield Note(node.id, "an event in an ad-hoc subprocess leads nowhere", "Lead it to an activity.")
