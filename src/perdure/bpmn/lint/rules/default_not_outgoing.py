"""The default flow of an element does not leave it.

The default must be one of the element's own outgoing flows.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.model import (
    Event,
)

CODE = "BPM114"
NAME = "default-not-outgoing"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        default = "" if isinstance(node, Event) else node.default
        if default in index.flows and index.flows[default].source != node.id:
            fact = f"its default flow '{default}' leaves '{index.flows[default].source}'"
            yield Note(node.id, fact, "Make one of its own outgoing flows the default.")
