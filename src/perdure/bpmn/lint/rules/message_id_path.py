"""A subscription does not take the id of a delivery from `message_id`.

Deliveries are told apart by the `message_id` of their envelope, and by nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.lint.contract_elements import all_found
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME023"
NAME = "message-id-path"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for each in all_found(index):
        if each.name == elements.SUBSCRIPTION and each.attribute("messageIdPath") != elements.MESSAGE_ID:
            fact = f"its messageIdPath is '{each.attribute('messageIdPath')[:60]}'"
            yield Note(each.element, fact, 'Write messageIdPath="message_id".', each.place)
