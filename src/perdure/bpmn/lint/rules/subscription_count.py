"""A message that is waited for does not have exactly one `subscription`.

The message says how every wait for it is matched: one key, one place of the id.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.contract.contract import is_wait, message_of
from perdure.bpmn.lint.contract_elements import found_on
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME021"
NAME = "subscription-count"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    awaited = {message_of(node): node.id for node in index.nodes.values() if is_wait(node)}
    for message, node in awaited.items():
        found = found_on(index, message, elements.SUBSCRIPTION)
        if message in index.messages and len(found) != 1:
            place = found[1].place if found else index.written.places.get(message)
            fact = f"the message '{message[:80]}' it waits for has {len(found)} subscriptions"
            hint = "Give the message exactly one, with correlationKeyTemplate and messageIdPath."
            yield Note(node, fact, hint, place)
