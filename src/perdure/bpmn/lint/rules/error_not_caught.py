"""A verb may raise a business error that nothing catches, or a subprocess ends with one.

With an error of a verb the instance would stop with an incident, with that of an end event it would fail. Attach an
error boundary event, or catch it in an event subprocess. An error end event of the process itself is meant to fail it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.contract import same_name
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, Room, triggers_of
from perdure.bpmn.model import (
    ErrorTrigger,
    Event,
    Node,
)

CODE = "CON112"
NAME = "error-not-caught"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for node, name in index.calls():
        verb = index.verbs.get(same_name(name))
        missing = [code for code in (verb.errors or ()) if not _is_caught(index, node, code)] if verb else []
        if missing:
            fact = f"'{name}' may raise {', '.join(missing)}, and nothing catches it"
            yield Note(node.id, fact, "Attach an error boundary event.")
    for event, trigger in index.triggers(ErrorTrigger, "end"):
        error = index.errors.get(trigger.error)
        if error is not None and error.code and _is_within(index, event) and not _is_caught(index, event, error.code):
            fact = f"it ends its subprocess with {error.code}, and nothing catches it"
            yield Note(event.id, fact, "Attach an error boundary event to the subprocess.")


def _is_within(index: Index, event: Event) -> bool:
    """Whether it ends a subprocess that flows lead to."""
    room: Room | None = index.room_of[event.id]
    while room is not None and room.kind() == "event":
        room = room.parent
    return room is not None and room.parent is not None


def _is_caught(index: Index, node: Node, code: str) -> bool:
    id = node.id
    while True:
        if any(_catches(index, event, code) for event in index.boundaries.get(id, ())):
            return True
        room = index.room_of[id]
        if any(_catches(index, start, code) for start in index.event_starts.get(room.id, ())):
            return True
        if room.parent is None:
            return False
        id = room.id


def _catches(index: Index, event: Event, code: str) -> bool:
    for trigger in triggers_of(event, ErrorTrigger):
        error = index.errors.get(trigger.error)
        if error is None or error.code in ("", code):
            return True
    return False
