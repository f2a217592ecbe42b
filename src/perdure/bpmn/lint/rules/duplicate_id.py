"""Two elements have one id.

Ids are how flows, diagrams, journals and people refer to an element; with two of a kind nobody knows which is meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.model import (
    scopes,
)

CODE = "BPM102"
NAME = "duplicate-id"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for id, count in Counter(_ids(index)).items():
        if count > 1:
            yield Note(id, f"{count} elements have this id", "Give each element an id of its own.")


def _ids(index: Index) -> Iterator[str]:
    for process in index.definitions.processes:
        yield process.id
        for scope in scopes(process.body):
            for part in (scope.nodes, scope.flows, scope.associations, scope.annotations):
                yield from (each.id for each in part)
    definitions = index.definitions
    for shared in (definitions.messages, definitions.signals, definitions.errors, definitions.escalations):
        yield from (each.id for each in shared)
