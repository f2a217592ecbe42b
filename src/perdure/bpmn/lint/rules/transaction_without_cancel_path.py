"""A transaction can be cancelled and nothing follows.

After a cancel end event the path goes on at the cancel boundary event of the transaction. Without one the token is
lost.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index, triggers_of
from perdure.bpmn.model import (
    CancelTrigger,
)

CODE = "BPM163"
NAME = "transaction-without-cancel-path"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for room in index.rooms:
        if room.kind() != "transaction":
            continue
        cancels = [node for node in room.body.nodes if triggers_of(node, CancelTrigger)]
        caught = any(triggers_of(event, CancelTrigger) for event in index.boundaries.get(room.id, ()))
        if cancels and not caught:
            fact = f"'{cancels[0].id}' cancels it, and no boundary event says what follows"
            yield Note(room.id, fact, "Attach a cancel boundary event.")
