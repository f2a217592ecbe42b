"""Camunda 8 wants exactly one start event in a subprocess.

With several, or none, the deployment is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "PRT118"
NAME = "camunda-several-starts"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for room in index.rooms:
        count = len(index.starts(room))
        if room.kind() in ("embedded", "event") and count != 1:
            yield Note(room.id, f"it has {count} start events, and Camunda 8 wants exactly one", "Keep one.")
