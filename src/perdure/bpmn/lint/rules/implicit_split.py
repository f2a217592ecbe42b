"""Several flows leave a task or event.

All are taken at once, which is easily read as a choice. Draw the gateway that is meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    Event,
    Gateway,
)

CODE = "BPM131"
NAME = "implicit-split"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        if isinstance(node, Gateway):
            continue
        default = "" if isinstance(node, Event) else node.default
        free = [flow for flow in index.outgoing(node.id) if flow.condition is None and flow.id != default]
        if len(free) > 1:
            yield Note(node.id, f"{len(free)} flows leave it at once", "Draw a parallel or exclusive gateway.")
