"""An element has no name.

Names are what people see in diagrams, histories and incidents. Tasks say what is done, gateways ask a question,
events say what happened.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, is_named, triggers_of
from perdure.bpmn.model import (
    CompensationTrigger,
    Event,
    Gateway,
    Node,
    SubProcess,
)

CODE = "BPM126"
NAME = "label-required"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        if not is_named(node.name) and _needs_name(index, node):
            yield Note(node.id, "it has no name", "Name it as people speak of it.")


def _needs_name(index: Index, node: Node) -> bool:
    if isinstance(node, Gateway):
        is_decision = node.kind in ("exclusive", "inclusive", "complex")
        return is_decision and len(index.outgoing(node.id)) > 1
    if isinstance(node, Event):
        is_blank = not node.triggers and node.position in ("start", "end")
        is_compensation = bool(triggers_of(node, CompensationTrigger)) and node.position == "boundary"
        return not is_compensation and not (is_blank and index.room_of[node.id].parent is not None)
    return not (isinstance(node, SubProcess) and node.kind == "event")
