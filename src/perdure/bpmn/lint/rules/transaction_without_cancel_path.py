"""A transaction can be cancelled and nothing follows.

After a cancel end event the path goes on at the cancel boundary event of the transaction. Without one the token is
lost.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, transaction_around, triggers_of
from perdure.bpmn.model import (
    CancelTrigger,
)

CODE = "BPM163"
NAME = "transaction-without-cancel-path"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    cancels: dict[str, str] = {}
    for event, _ in index.triggers(CancelTrigger, "end"):
        room = transaction_around(index.room_of[event.id])
        if room is not None:
            cancels.setdefault(room.id, event.id)
    for transaction, event_id in cancels.items():
        if not any(triggers_of(event, CancelTrigger) for event in index.boundaries.get(transaction, ())):
            fact = f"'{event_id}' cancels it, and no boundary event says what follows"
            yield Note(transaction, fact, "Attach a cancel boundary event.")
