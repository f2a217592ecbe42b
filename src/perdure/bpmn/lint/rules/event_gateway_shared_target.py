"""An event after an event-based gateway can also be reached from elsewhere.

The event belongs to the race of the gateway. Reached by another flow, it would wait outside the race.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM119"
NAME = "event-gateway-shared-target"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for gateway in index.gateways("event"):
        for flow in index.outgoing(gateway.id):
            if any(other.source != gateway.id for other in index.incoming(flow.target)):
                fact = f"it waits for '{flow.target}', which other flows lead to as well"
                yield Note(gateway.id, fact, "Give the other path an event of its own.")
