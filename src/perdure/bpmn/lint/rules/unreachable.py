"""No path from a start leads to an element.

It can never run. Often a flow was drawn the wrong way round, or a boundary event was not attached.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index

CODE = "BPM110"
NAME = "unreachable"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    reached = index.graph.reach(process.id for process in index.processes)
    for node in index.nodes.values():
        if node.id not in reached and index.incoming(node.id):
            yield Note(node.id, "no path from a start leads to it", "Lead a flow to it from what comes before.")
