"""An explicit wait does not say which message it waits for.

A receive task and a message catch event refer to a message of the file by `messageRef`.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract.contract import is_wait, message_of
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME020"
NAME = "wait-without-message"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        if is_wait(node) and message_of(node) not in index.messages:
            yield Note(node.id, "it refers to no message", "Add messageRef, with the id of a message of the file.")
