"""A receive task or event gateway that starts instances is reached by a flow.

It is the start of the process, so nothing comes before it, and it stands at the top of a process.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM159"
NAME = "instantiating-with-incoming"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        if not index.is_instantiating(node):
            continue
        if index.incoming(node.id):
            yield Note(node.id, "it starts instances and a flow leads to it", "Remove the flow, or let it not start.")
        if index.room_of[node.id].parent is not None:
            yield Note(node.id, "it starts instances from inside a subprocess", "Move it to the process.")
