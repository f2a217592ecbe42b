"""Camunda 8 does not start instances by receive tasks or event-based gateways.

It refuses a process that has no start event. Where there is one, it accepts the model, and `instantiate` is ignored
without a word. Use message start events.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "PRT109"
NAME = "camunda-instantiate"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        if index.is_instantiating(node):
            yield Note(node.id, "Camunda 8 starts instances only at start events", "Use message start events.")
