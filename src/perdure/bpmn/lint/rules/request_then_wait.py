"""A verb with external effects is called without a wait for the answer.

A call to another system that may take long is better drawn as a request followed by a message event or receive task:
workers stay free, and slowness outside does not burn retries. For calls that always answer at once ignore this.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.contract import same_name
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.model_queries import is_wait
from perdure.bpmn.model import (
    Task,
)

CODE = "HOL016"
NAME = "request-then-wait"
SEVERITIES = Severities("info", open="off")


def check(index: Index) -> Iterator[Note]:
    for node, name in index.calls():
        verb = index.verbs.get(same_name(name))
        if verb is None or verb.effects != "external" or not isinstance(node, Task) or node.is_for_compensation:
            continue
        targets = [index.nodes[flow.target] for flow in index.outgoing(node.id) if flow.target in index.nodes]
        if not any(is_wait(target) for target in targets):
            fact = f"it calls '{name}', which has external effects, and nothing waits for an answer"
            yield Note(node.id, fact, "If it may take long, let it only ask and wait for the answer by message.")
