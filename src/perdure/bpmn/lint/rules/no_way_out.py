"""A gateway or an activity may find no way out.

Without a default flow, the conditions must cover every value the flags can have. Otherwise some instance stops here
with an incident. Add a default flow, or the condition that is missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.condition_coverage import covers
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM113"
NAME = "no-way-out"
SEVERITIES = Severities("error", open="warning", contract="warning")


def check(index: Index) -> Iterator[Note]:
    for node in (*index.gateways("exclusive", "inclusive", "complex"), *index.activities()):
        outgoing = index.outgoing(node.id)
        tests = [flow.condition for flow in outgoing if flow.condition is not None]
        if node.default or not tests or len(tests) < len(outgoing):
            continue
        if covers(tests, index.flags) is False:
            fact = "it has no default flow and its conditions do not cover every value"
            yield Note(node.id, fact, "Make one flow the default.")
