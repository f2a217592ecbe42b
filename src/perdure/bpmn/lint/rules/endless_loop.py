"""A loop has neither a condition nor a maximum.

It would repeat for ever. Say while what holds it repeats, or how often at most, which is once or more often.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    StandardLoop,
)

CODE = "BPM156"
NAME = "endless-loop"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for node in index.activities():
        repeat = node.repeat
        if isinstance(repeat, StandardLoop):
            if repeat.condition is None and repeat.maximum is None:
                yield Note(node.id, "it loops without condition or maximum", "Give it a condition or a maximum.")
            elif repeat.maximum is not None and repeat.maximum < 1:
                yield Note(node.id, f"it loops at most {repeat.maximum} times", "Give it a maximum of 1 or more.")
