"""A compensation event is thrown where nothing can be undone.

No activity of its scope has a compensation handler, and no subprocess in it has one inside, so the event passes
without a trace. Join what is to be undone to the activity that undoes it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, Room, triggers_of
from perdure.bpmn.model import (
    CallActivity,
    CompensationTrigger,
    Event,
    nodes,
)

CODE = "BPM183"
NAME = "nothing-to-undo"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    if index.contract is not None and index.contract.compensation:
        return
    known: dict[str, bool] = {}
    for event, trigger in index.triggers(CompensationTrigger, "throw", "end"):
        room = _undone(index.room_of[event.id])
        if room.id not in known:
            known[room.id] = _can_undo(room)
        if not trigger.activity and not known[room.id]:
            fact = "it undoes what was done in its scope, and nothing there can be undone"
            yield Note(event.id, fact, "Attach a compensation event to what is to be undone, and join it to a handler.")


def _undone(room: Room) -> Room:
    """The scope that is undone: from within an event subprocess the one around it."""
    while room.kind() == "event" and room.parent is not None:
        room = room.parent
    return room


def _can_undo(room: Room) -> bool:
    return any(
        isinstance(node, CallActivity)
        or (
            isinstance(node, Event)
            and node.position in ("boundary", "start")
            and triggers_of(node, CompensationTrigger)
        )
        for node in nodes(room.body)
    )
