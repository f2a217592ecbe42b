"""A boundary event is attached to something that cannot have one.

Boundary events belong to activities of the same scope: tasks, subprocesses and call activities, but not event
subprocesses or compensation handlers.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.model import (
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
