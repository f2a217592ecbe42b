"""Flows lead back to where they came from.

Strictly, the contract profile has no cycles: every step of it runs once. Without `--strict` a loop through exclusive
gateways is part of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import Gateway

CODE = "AME042"
NAME = "cycle-in-contract-profile"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for room in index.rooms if index.is_strict else ():
        remaining = {node.id: len(index.incoming(node.id)) for node in room.body.nodes}
        free = [id for id, count in remaining.items() if count == 0]
        while free:
            for flow in index.outgoing(free.pop()):
                if flow.target in remaining:
                    remaining[flow.target] -= 1
                    if remaining[flow.target] == 0:
                        free.append(flow.target)
        for node in room.body.nodes:
            if remaining[node.id] > 0 and isinstance(node, Gateway) and len(index.incoming(node.id)) > 1:
                yield Note(node.id, "flows lead back to it", "Repeat by beginning the process again.")
