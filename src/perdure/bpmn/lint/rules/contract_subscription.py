"""A wait of the contract profile does not say what it correlates by.

The message it waits for carries exactly one `subscription` with a `correlationKeyTemplate` over `${state.…}` and
`messageIdPath="message_id"`. A subscription stands on messages only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    Message,
    MessageTrigger,
)

CODE = "CON005"
NAME = "contract-subscription"
SEVERITIES = Severities("error", hollow="off", open="off")


_TEMPLATE = re.compile(r"(?:[^$]|\\[$]|[$][{]state[.][A-Za-z0-9_.]+[}])+")


def check(index: Index) -> Iterator[Note]:
    waits = [(event.id, trigger.message) for event, trigger in index.triggers(MessageTrigger, "catch")]
    waits += [(task.id, task.message) for task in index.tasks("receive")]
    for id, message in waits:
        if message in index.messages:
            yield from _subscribed(id, index.messages[message])
    for node in index.nodes.values():
        if any(each.name == "ameide:subscription" for each in node.extensions):
            yield Note(node.id, "it carries a subscription", "Move the subscription to the message it waits for.")


def _subscribed(element: str, message: Message) -> Iterator[Note]:
    found = [each.attributes for each in message.extensions if each.name == "ameide:subscription"]
    if len(found) != 1:
        fact = f"its message '{message.id}' has {len(found)} subscriptions"
        yield Note(element, fact, "Give the message exactly one.")
    for attributes in found:
        template = attributes.get("correlationKeyTemplate", "")
        if "${state." not in template or not _TEMPLATE.fullmatch(template):
            fact = f"the key of its message `{template[:60]}` is not a template over the state"
            yield Note(element, fact, "Write e.g. ${state.order_id}.")
        if attributes.get("messageIdPath") != "message_id":
            yield Note(element, "its message does not say where its id is", 'Write messageIdPath="message_id".')
