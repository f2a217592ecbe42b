"""Several flows meet at a task or event as if they were joined.

Each token passes by itself, so what follows happens once per token. Use a parallel gateway to join, or an exclusive
one to say that only one arrives.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    Event,
    Gateway,
)

CODE = "BPM124"
NAME = "fake-join"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        if not isinstance(node, Gateway) and len(index.incoming(node.id)) > 1:
            if isinstance(node, Event) and node.position == "end":
                continue
            yield Note(node.id, "several flows meet here without a gateway", "Join them with a gateway.")
