"""A verb may raise a business error that nothing catches.

The instance would stop with an incident. Attach an error boundary event, or catch it in an event subprocess.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.contract import same_name
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index, triggers_of
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
