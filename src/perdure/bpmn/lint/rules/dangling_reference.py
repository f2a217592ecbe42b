"""An element refers to something that is not in the file.

A flow without an end, a boundary event without a host, an event without its message: the engine could not carry it
out. Draw what is missing, or remove the reference.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.model import (
    CompensationTrigger,
    ErrorTrigger,
    EscalationTrigger,
    Event,
    MessageTrigger,
    SignalTrigger,
    Task,
)

CODE = "BPM103"
NAME = "dangling-reference"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for flow in index.flows.values():
        for role, id in (("source", flow.source), ("target", flow.target)):
            if id not in index.nodes:
                yield _missing(flow.id, role, id)
    for node in index.nodes.values():
        if isinstance(node, Event):
            yield from _event(index, node)
        elif node.default and node.default not in index.flows:
            yield _missing(node.id, "default flow", node.default)
        if isinstance(node, Task) and node.message and node.message not in index.messages:
            yield _missing(node.id, "message", node.message)


def _event(index: Index, event: Event) -> Iterator[Note]:
    if event.position == "boundary" and event.attached_to not in index.nodes:
        yield _missing(event.id, "host", event.attached_to)
    for trigger in event.triggers:
        match trigger:
            case MessageTrigger(id) if id and id not in index.messages:
                yield _missing(event.id, "message", id)
            case SignalTrigger(id) if id and id not in index.signals:
                yield _missing(event.id, "signal", id)
            case ErrorTrigger(id) if id and id not in index.errors:
                yield _missing(event.id, "error", id)
            case EscalationTrigger(id) if id and id not in index.escalations:
                yield _missing(event.id, "escalation", id)
            case CompensationTrigger(id) if id and id not in index.nodes:
                yield _missing(event.id, "activity", id)
            case _:
                pass


def _missing(element: str, role: str, id: str) -> Note:
    return Note(element, f"its {role} '{id}' is not in the file", "Draw it, or correct the reference.")
