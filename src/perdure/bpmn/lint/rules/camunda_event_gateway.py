"""Camunda 8 accepts only catching events after an event-based gateway.

A receive task is refused there. Use a message catch event.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    Task,
)

CODE = "PRT106"
NAME = "camunda-event-gateway"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for gateway in index.gateways("event"):
        for flow in index.outgoing(gateway.id):
            target = index.nodes.get(flow.target)
            if isinstance(target, Task) and target.kind == "receive":
                fact = f"it leads to the receive task '{flow.target}', and Camunda 8 accepts only catching events"
                yield Note(gateway.id, fact, "Use a message catch event.")
