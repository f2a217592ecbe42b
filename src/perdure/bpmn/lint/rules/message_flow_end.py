"""A message flow leaves or reaches something that sends or receives no message.

Pools, activities and events that throw send; pools, activities and events that catch receive. A gateway does
neither, an end event only sends, a start event only receives, an activity for compensation receives nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, triggers_of
from perdure.bpmn.model import (
    Event,
    Gateway,
    MessageTrigger,
    Node,
    nodes,
)

CODE = "BPM180"
NAME = "message-flow-end"
SEVERITIES = Severities("error")

_SENDING = ("throw", "end")


def check(index: Index) -> Iterator[Note]:
    collaboration = index.definitions.collaboration
    if collaboration is None:
        return
    drawn = {node.id: node for process in index.definitions.processes for node in nodes(process.body)}
    for flow in collaboration.message_flows:
        source, target = drawn.get(flow.source), drawn.get(flow.target)
        if source is not None and not _sends(source):
            hint = "Begin it at a pool, an activity or a message event that throws."
            yield Note(flow.id, f"it leaves '{source.id}', which sends no message", hint)
        if target is not None and not _receives(target):
            hint = "Lead it to a pool, an activity or a message event that catches."
            yield Note(flow.id, f"it reaches '{target.id}', which receives no message", hint)


def _sends(node: Node) -> bool:
    if isinstance(node, Event):
        return node.position in _SENDING and _is_for_messages(node)
    return not isinstance(node, Gateway)


def _receives(node: Node) -> bool:
    if isinstance(node, Event):
        return node.position not in _SENDING and _is_for_messages(node)
    return not isinstance(node, Gateway) and not node.is_for_compensation


def _is_for_messages(event: Event) -> bool:
    """An event that does not say yet what it is for may become one."""
    return not event.triggers or bool(triggers_of(event, MessageTrigger))
