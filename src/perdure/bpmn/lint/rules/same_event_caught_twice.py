"""One event is caught twice at one place.

Two boundary events of one activity, or two event subprocesses of one scope, catch the same error, escalation or
message; which of them wins is not defined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.model import (
    CancelTrigger,
    CompensationTrigger,
    ErrorTrigger,
    EscalationTrigger,
    Event,
    MessageTrigger,
    Trigger,
)

CODE = "BPM152"
NAME = "same-event-caught-twice"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for events in index.boundaries.values():
        yield from _twice(index, events)
    for starts in index.event_starts.values():
        yield from _twice(index, starts)


def _twice(index: Index, events: Iterable[Event]) -> Iterator[Note]:
    seen: dict[tuple[str, str], str] = {}
    for event in events:
        for trigger in event.triggers:
            key = _key(index, event, trigger)
            if key is None:
                continue
            first = seen.setdefault(key, event.id)
            if first != event.id:
                yield Note(event.id, f"it catches the same {key[0]} as '{first}'", "Keep one of them.")


def _key(index: Index, event: Event, trigger: Trigger) -> tuple[str, str] | None:
    match trigger:
        case ErrorTrigger(id):
            return "error", index.errors[id].code if id in index.errors else ""
        case EscalationTrigger(id) if event.is_interrupting:
            return "escalation", index.escalations[id].code if id in index.escalations else ""
        case MessageTrigger(id) if event.is_interrupting:
            return "message", index.message_name(id)
        case CompensationTrigger():
            return "compensation", ""
        case CancelTrigger():
            return "cancel", ""
        case _:
            return None
