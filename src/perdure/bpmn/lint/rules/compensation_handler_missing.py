"""A compensation boundary event is not joined to one handler beside it.

An association joins it to the activity that undoes the work, in the same scope. Without it nothing would be undone,
and a flow from it is never taken. It waits for nothing else: it takes effect once the work is done, other boundary
events while it is going on.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    CompensationTrigger,
    Event,
    Gateway,
)

CODE = "BPM146"
NAME = "compensation-handler-missing"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for event, _ in index.triggers(CompensationTrigger, "boundary"):
        handlers = [node for node in index.handlers_of(event) if not isinstance(node, (Event, Gateway))]
        if index.outgoing(event.id):
            yield Note(event.id, "a flow leaves a compensation event", "Join the handler by an association instead.")
        if len(handlers) > 1 or not (handlers or index.outgoing(event.id)):
            fact = f"it is joined to {len(handlers)} compensation handlers"
            yield Note(event.id, fact, "Join it to exactly one activity by an association.")
        for handler in handlers:
            if not handler.is_for_compensation:
                yield Note(handler.id, "it undoes work and is not marked for compensation", "Mark it for compensation.")
            if index.room_of[handler.id] is not index.room_of[event.id]:
                fact = f"its compensation handler '{handler.id}' stands in another scope"
                yield Note(event.id, fact, "Put the handler beside the activity it undoes.")
        if len(event.triggers) > 1:
            fact = "it is for compensation and waits for something else as well"
            yield Note(event.id, fact, "Attach an event of its own for each.")
