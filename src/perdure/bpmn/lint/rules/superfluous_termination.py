"""A terminate end event stops nothing.

It is the only end of its scope, so there is nothing else to terminate unless branches run beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.dataflow import (
    is_fork,
)
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, Room, triggers_of
from perdure.bpmn.model import (
    Event,
    Node,
    SubProcess,
    TerminateTrigger,
)

CODE = "BPM134"
NAME = "superfluous-termination"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for room in index.rooms:
        ends = [node for node in room.body.nodes if not index.outgoing(node.id) and not _is_aside(index, node)]
        terminating = [node for node in ends if isinstance(node, Event) and triggers_of(node, TerminateTrigger)]
        if len(ends) == 1 and len(terminating) == 1 and not _has_forks(index, room):
            yield Note(terminating[0].id, "nothing else runs that it could terminate", "Make it a none end event.")


def _is_aside(index: Index, node: Node) -> bool:
    return index.is_apart(node) and not (isinstance(node, SubProcess) and node.kind == "event")


def _has_forks(index: Index, room: Room) -> bool:
    return any(is_fork(index, node) or _runs_beside(node) for node in room.body.nodes)


def _runs_beside(node: Node) -> bool:
    return isinstance(node, Event) and node.position == "boundary" and not node.is_interrupting
