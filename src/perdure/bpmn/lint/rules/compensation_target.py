"""A compensation event names an activity it cannot compensate.

It can name an activity of its own scope, or, from within an event subprocess, of the scope around, that has a
compensation handler or is a subprocess.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, Room, triggers_of
from perdure.bpmn.model import (
    CompensationTrigger,
    Event,
    Node,
    SubProcess,
)

CODE = "BPM149"
NAME = "compensation-target"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for event, trigger in index.triggers(CompensationTrigger, "throw", "end"):
        node = index.nodes.get(trigger.activity)
        if node is None:
            continue
        if index.room_of[node.id].id not in _visible(index, event):
            fact = f"it compensates '{node.id}', which is in another scope"
            yield Note(event.id, fact, "Compensate an activity of the same scope.")
        elif not isinstance(node, SubProcess) and not _has_handler(index, node):
            fact = f"it compensates '{node.id}', which has no compensation handler"
            yield Note(event.id, fact, "Attach a compensation event to it.")


def _visible(index: Index, event: Event) -> set[str]:
    room: Room | None = index.room_of[event.id]
    seen: set[str] = set()
    while room is not None:
        seen.add(room.id)
        room = room.parent if room.kind() == "event" else None
    return seen


def _has_handler(index: Index, node: Node) -> bool:
    return any(triggers_of(event, CompensationTrigger) for event in index.boundaries.get(node.id, ()))
