"""Camunda 8 wants a correlation key of every wait for a message.

It refuses a model where an event or a task in mid-flow waits for a message without one. Here such a wait takes every
message of that name, which hollow processes may not have either.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flag_access import waits_without_key
from perdure.bpmn.lint.model_index import Index

CODE = "PRT121"
NAME = "camunda-wait-without-key"
SEVERITIES = Severities("error", hollow="off", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for node, message in waits_without_key(index):
        fact = f"Camunda 8 does not accept its message '{message}', which has no correlation key"
        yield Note(node.id, fact, "Set the key, e.g. =orch_case_id.")
