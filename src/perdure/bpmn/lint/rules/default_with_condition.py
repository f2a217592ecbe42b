"""A default flow has a condition.

The default is taken when nothing else is; its condition is never looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    Event,
)

CODE = "BPM112"
NAME = "default-with-condition"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        default = "" if isinstance(node, Event) else node.default
        if default in index.flows and index.flows[default].condition is not None:
            yield Note(default, "it is a default flow and has a condition", "Remove the condition.")
