"""An activity for compensation compensates nothing, or stands in a flow.

It runs only when the activity it is joined to is compensated, so it has an association and no sequence flows.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.model import (
    SubProcess,
)

CODE = "BPM147"
NAME = "compensation-handler-unused"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for node in index.activities():
        if not node.is_for_compensation or (isinstance(node, SubProcess) and node.kind == "event"):
            continue
        if index.incoming(node.id) or index.outgoing(node.id):
            yield Note(node.id, "it is for compensation and has sequence flows", "Remove the flows.")
        elif node.id not in index.compensates:
            yield Note(node.id, "no compensation event is joined to it", "Join it to one, or unmark it.")
