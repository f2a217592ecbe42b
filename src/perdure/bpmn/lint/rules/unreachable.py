"""No path from a start leads to an element.

It can never run. Often a flow was drawn the wrong way round, or a boundary event was not attached. What
lies behind it is not listed again, nor what lies behind an element that nothing leads to.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM110"
NAME = "unreachable"
SEVERITIES = Severities("error", contract="off")


def check(index: Index) -> Iterator[Note]:
    seen = index.graph.reach(process.id for process in index.processes)
    led = {id for after in index.graph.after.values() for id in after}
    undoing = {node.id for node in index.activities() if node.is_for_compensation}
    for id in sorted(index.nodes, key=led.__contains__):
        if id in seen or id in undoing:
            continue
        seen |= index.graph.reach([id], seen.__contains__)
        if id in led and (index.incoming(id) or id not in index.compensates):
            yield Note(id, "no path from a start leads to it", "Lead a flow to it from what comes before.")
