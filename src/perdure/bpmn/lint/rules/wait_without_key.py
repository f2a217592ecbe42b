"""A wait for a message has no correlation key.

Without a key every instance waits for every message of that name, and two instances make it ambiguous. Give the
message a key: a string flag that is set before.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flag_access import waits_without_key
from perdure.bpmn.lint.model_index import Index

CODE = "BPM143"
NAME = "wait-without-key"
SEVERITIES = Severities("error", open="warning", contract="off")


def check(index: Index) -> Iterator[Note]:
    for node, message in waits_without_key(index):
        yield Note(node.id, f"its message '{message}' has no correlation key", "Set the key, e.g. =orch_case_id.")
