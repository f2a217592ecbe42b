"""Two flows lead from one element to the same other one.

Two tokens would arrive, or one of them is a leftover. Combine the conditions with `or`.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM129"
NAME = "duplicate-flows"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    seen: dict[tuple[str, str], str] = {}
    for flow in index.flows.values():
        first = seen.setdefault((flow.source, flow.target), flow.id)
        if first != flow.id:
            yield Note(flow.id, f"it leads the same way as '{first}'", "Remove one, combining conditions with or.")
