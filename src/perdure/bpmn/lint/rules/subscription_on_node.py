"""A subscription stands on a node.

A wait refers to a message, and the message carries the subscription: on the wait itself nobody reads it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.lint.contract_elements import all_found
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME022"
NAME = "subscription-on-node"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for each in all_found(index):
        if each.name == elements.SUBSCRIPTION and each.element not in index.messages:
            yield Note(each.element, "it carries a subscription", "Move it to the message it waits for.", each.place)
