"""A wait for a message has no correlation key.

Without a key every instance waits for every message of that name, and two instances make it ambiguous. Give the
message a key: a string flag that is set before.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index, is_named
from perdure.bpmn.lint.reads import is_process_start
from perdure.bpmn.model import (
    MessageTrigger,
    Node,
)

CODE = "BPM143"
NAME = "wait-without-key"
SEVERITIES = Severities("error", open="warning", contract="warning")


def check(index: Index) -> Iterator[Note]:
    waits: list[tuple[Node, str]] = [
        *((event, trigger.message) for event, trigger in index.triggers(MessageTrigger, "catch", "boundary", "start")),
        *((task, task.message) for task in index.tasks("receive")),
    ]
    for node, message in waits:
        if is_process_start(index, node) or message not in index.messages:
            continue
        key = index.messages[message].correlation
        if key is None or not is_named(key.text):
            yield Note(node.id, f"its message '{message}' has no correlation key", "Set the key, e.g. =orch_case_id.")
