"""A gateway has a way out that is neither conditional nor the default.

When a token can go several ways, each flow says when it is taken, and one may be the default. A flow that says
nothing is taken always, or never, depending on who reads it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM111"
NAME = "condition-missing"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for gateway in index.gateways("exclusive", "inclusive"):
        outgoing = index.outgoing(gateway.id)
        if len(outgoing) < 2:
            continue
        for flow in outgoing:
            if flow.condition is None and flow.id != gateway.default:
                hint = "Give it a condition, or make it the default flow."
                yield Note(flow.id, f"it leaves '{gateway.id}' without a condition and is not the default", hint)
