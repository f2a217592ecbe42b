"""An ad-hoc subprocess has a start or end event, no activity, or an event that leads nowhere.

Its activities are done in any order, so it has at least one, and no start and no end; an event in it leads on to an
activity.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    Activity,
    Event,
    Node,
    SubProcess,
)

CODE = "BPM135"
NAME = "ad-hoc-content"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for room in index.rooms:
        if room.kind() != "ad_hoc":
            continue
        if room.body.nodes and not any(map(_is_done, room.body.nodes)):
            yield Note(room.id, "it holds no activity that could be done", "Draw an activity in it, or remove it.")
        for node in room.body.nodes:
            if isinstance(node, Event) and node.position in ("start", "end"):
                yield Note(node.id, f"an ad-hoc subprocess has no {node.position} event", "Remove it.")
            elif isinstance(node, Event) and node.position == "catch" and not index.outgoing(node.id):
                yield Note(node.id, "an event in an ad-hoc subprocess leads nowhere", "Lead it to an activity.")


def _is_done(node: Node) -> bool:
    is_handler = isinstance(node, SubProcess) and node.kind == "event"
    return isinstance(node, Activity) and not node.is_for_compensation and not is_handler
