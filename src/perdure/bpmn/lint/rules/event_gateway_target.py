"""An event-based gateway leads to something that is not an event to wait for.

It can lead to catching message, timer, signal and conditional events and to receive tasks. Everything else would be
entered at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    ConditionalTrigger,
    Event,
    MessageTrigger,
    Node,
    SignalTrigger,
    Task,
    TimerTrigger,
)

CODE = "BPM118"
NAME = "event-gateway-target"
SEVERITIES = Severities("error")


_CATCHES = (MessageTrigger, TimerTrigger, SignalTrigger, ConditionalTrigger)


def check(index: Index) -> Iterator[Note]:
    for gateway in index.gateways("event"):
        for flow in index.outgoing(gateway.id):
            target = index.nodes.get(flow.target)
            if target is not None and not _is_awaitable(index, target):
                fact = f"it leads to '{flow.target}', which is not an event to wait for"
                yield Note(gateway.id, fact, "Lead it to a catching event or a receive task without boundary events.")


def _is_awaitable(index: Index, node: Node) -> bool:
    if isinstance(node, Event):
        triggers = node.triggers
        return node.position == "catch" and bool(triggers) and all(isinstance(each, _CATCHES) for each in triggers)
    return isinstance(node, Task) and node.kind == "receive" and not index.boundaries.get(node.id)
