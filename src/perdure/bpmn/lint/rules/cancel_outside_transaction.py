"""A cancel event is not part of a transaction.

A cancel end event stands in a transaction, or in a subprocess inside one; a cancel boundary event on a transaction.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, transaction_around
from perdure.bpmn.model import (
    CancelTrigger,
    SubProcess,
)

CODE = "BPM148"
NAME = "cancel-outside-transaction"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for event, _ in index.triggers(CancelTrigger, "end", "boundary"):
        if event.position == "end":
            is_inside = transaction_around(index.room_of[event.id]) is not None
        else:
            host = index.nodes.get(event.attached_to)
            is_inside = isinstance(host, SubProcess) and host.kind == "transaction"
        if not is_inside:
            yield Note(event.id, "it cancels and there is no transaction", "Make the subprocess a transaction.")
