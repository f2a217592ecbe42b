"""A process or subprocess holds nothing.

There is nothing to run. Draw its content, or make an empty subprocess a task.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM106"
NAME = "empty-scope"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for room in index.rooms:
        if not room.body.nodes:
            yield Note(room.id, "it holds no elements", "Draw its content, or remove it.")
