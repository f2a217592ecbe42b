"""An event-based gateway leads to message events and to receive tasks.

BPMN has either the one or the other at a gateway, and other tools refuse the mixture. It runs here as it is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, triggers_of
from perdure.bpmn.model import MessageTrigger, Task

CODE = "BPM190"
NAME = "event-gateway-mixture"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for gateway in index.gateways("event"):
        targets = [index.nodes[flow.target] for flow in index.outgoing(gateway.id) if flow.target in index.nodes]
        tasks = [node for node in targets if isinstance(node, Task) and node.kind == "receive"]
        events = [node for node in targets if triggers_of(node, MessageTrigger)]
        if tasks and events:
            fact = f"it leads to the message event '{events[0].id}' and to the receive task '{tasks[0].id}'"
            yield Note(gateway.id, fact, "Use message events for all of them, or receive tasks.")
