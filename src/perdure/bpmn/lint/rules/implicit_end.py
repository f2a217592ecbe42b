"""A path ends without an end event.

The token is consumed where it is, which is easily taken for a forgotten flow. Draw an end event.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, triggers_of
from perdure.bpmn.model import (
    CompensationTrigger,
    Event,
    LinkTrigger,
    Node,
)

CODE = "BPM109"
NAME = "implicit-end"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        if index.outgoing(node.id) or index.is_apart(node) or not _is_entered(index, node):
            continue
        if isinstance(node, Event) and (node.position == "end" or triggers_of(node, LinkTrigger)):
            continue
        if isinstance(node, Event) and triggers_of(node, CompensationTrigger) and node.position == "boundary":
            continue
        yield Note(node.id, "the path ends here without an end event", "Lead it to an end event.")


def _is_entered(index: Index, node: Node) -> bool:
    # A boundary event that leads nowhere is told of as disconnected.
    return bool(index.incoming(node.id))
