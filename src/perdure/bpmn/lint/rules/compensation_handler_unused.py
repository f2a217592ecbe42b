"""An activity for compensation compensates nothing, or stands in a flow.

It runs only when the activity it is joined to is compensated, so it has an association and no sequence flows. An event
subprocess is begun by its event and never by an association.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, triggers_of
from perdure.bpmn.model import (
    CompensationTrigger,
    SubProcess,
)

CODE = "BPM147"
NAME = "compensation-handler-unused"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for node in index.activities():
        if not node.is_for_compensation:
            continue
        if isinstance(node, SubProcess) and node.kind == "event":
            if not any(triggers_of(each, CompensationTrigger) for each in node.body.nodes):
                fact = "it is for compensation, and another event begins it"
                yield Note(node.id, fact, "Unmark it, or let a compensation event begin it.")
            continue
        if index.incoming(node.id) or index.outgoing(node.id):
            yield Note(node.id, "it is for compensation and has sequence flows", "Remove the flows.")
        elif node.id not in index.compensates:
            yield Note(node.id, "no compensation event is joined to it", "Join it to one, or unmark it.")
