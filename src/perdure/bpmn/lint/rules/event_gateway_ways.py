"""An event-based gateway has fewer than two ways out.

It waits for the first of several events. With one, use the event itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM117"
NAME = "event-gateway-ways"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for gateway in index.gateways("event"):
        count = len(index.outgoing(gateway.id))
        if count < 2:
            yield Note(gateway.id, f"it has {count} outgoing flows", "Give it two events to wait for, or remove it.")
