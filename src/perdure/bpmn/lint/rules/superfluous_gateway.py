"""A gateway has one way in and one way out.

It decides and joins nothing. Remove it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM133"
NAME = "superfluous-gateway"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for gateway in index.gateways("exclusive", "parallel", "inclusive", "complex"):
        if len(index.incoming(gateway.id)) == 1 and len(index.outgoing(gateway.id)) == 1:
            yield Note(gateway.id, "it has one way in and one way out", "Remove it.")
