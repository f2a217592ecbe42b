"""No path from the start leads to an element of the contract profile.

Nothing would be written for it: it can never run.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME041"
NAME = "unreachable-in-contract"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    seen = index.graph.reach(process.id for process in index.processes)
    led = {id for after in index.graph.after.values() for id in after}
    for id in sorted(index.nodes, key=led.__contains__):
        if id in seen:
            continue
        seen |= index.graph.reach([id], seen.__contains__)
        yield Note(id, "no path from the start leads to it", "Lead a flow to it from what comes before, or remove it.")
