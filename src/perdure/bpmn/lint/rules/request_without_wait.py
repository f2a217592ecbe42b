"""A request has no wait behind it.

A type such as `render.request.start` asks another system for something that takes long. The flow out of it leads to a
wait for the answer: a receive task, a message catch event, or an event-based gateway with one of them behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.contract.contract import is_wait
from perdure.bpmn.lint.contract_elements import all_found
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import Gateway, Node

CODE = "AME071"
NAME = "request-without-wait"
SEVERITIES = Severities("error", hollow="off", open="off")

_REQUEST = re.compile(r"(?:.+\.)?request\..+")


def check(index: Index) -> Iterator[Note]:
    for each in all_found(index):
        type = each.attribute("type")
        if each.name == elements.TASK and _REQUEST.fullmatch(type) and each.element in index.nodes:
            following = _behind(index, each.element)
            if not following or not all(_waits(index, node) for node in following):
                fact = f"it is a request ('{type[:80]}'), and no wait for its answer follows"
                yield Note(each.element, fact, "Lead its flow to a wait for the message that answers.", each.place)


def _behind(index: Index, id: str) -> list[Node]:
    return [index.nodes[flow.target] for flow in index.outgoing(id) if flow.target in index.nodes]


def _waits(index: Index, node: Node) -> bool:
    if isinstance(node, Gateway) and node.kind == "event":
        return any(is_wait(each) for each in _behind(index, node.id))
    return is_wait(node)
