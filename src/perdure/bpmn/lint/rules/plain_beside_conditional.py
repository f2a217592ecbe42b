"""A flow without a condition leaves an activity beside flows that have one.

It is taken always, whatever the others decide, and reads as if it were taken otherwise. Make it the default flow, or
decide with a gateway.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM181"
NAME = "plain-beside-conditional"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for activity in index.activities():
        outgoing = index.outgoing(activity.id)
        if all(flow.condition is None for flow in outgoing):
            continue
        for flow in outgoing:
            if flow.condition is None and flow.id != activity.default:
                fact = f"it leaves '{activity.id}' without a condition and is always taken, beside flows that have one"
                yield Note(flow.id, fact, "Make it the default flow, or decide with a gateway.")
