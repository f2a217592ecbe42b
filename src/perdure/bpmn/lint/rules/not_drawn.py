"""An element is not on the diagram.

What is not drawn is not seen by reviewers. Models without any diagram are laid out when they are exported.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM128"
NAME = "not-drawn"
SEVERITIES = Severities("info")


def check(index: Index) -> Iterator[Note]:
    diagram = index.model.diagram
    if diagram is None or diagram.is_blank():
        for process in index.processes:
            yield Note(process.id, "it has no diagram", "Open and save it in a modeller, or export it with a layout.")
        return
    drawn = {element for plane in diagram.planes() for element in plane.elements()}
    for id in (*index.nodes, *index.flows):
        if id not in drawn:
            yield Note(id, "it is not on the diagram", "Draw it.")
