"""A boundary event is attached to something that cannot have one.

Boundary events belong to activities of the same scope: tasks, subprocesses and call activities, but not event
subprocesses, compensation handlers or receive tasks that start instances: no instance is there while these wait, and
none compensates what started it.
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

CODE = "BPM139"
NAME = "boundary-host"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for event in index.events("boundary"):
        host = index.nodes.get(event.attached_to)
        if host is None:
            continue
        if isinstance(host, (Gateway, Event)):
            yield Note(event.id, f"its host '{host.id}' is not an activity", "Attach it to an activity.")
        elif host.is_for_compensation:
            yield Note(event.id, f"its host '{host.id}' is a compensation handler", "Remove it.")
        elif index.is_instantiating(host):
            fact = f"its host '{host.id}' starts instances by its message, and {_why(event)}"
            yield Note(event.id, fact, "Remove it.")


def _why(event: Event) -> str:
    if any(isinstance(trigger, CompensationTrigger) for trigger in event.triggers):
        return "compensation of what starts an instance is not carried out"
    return "nothing happens while it waits"
