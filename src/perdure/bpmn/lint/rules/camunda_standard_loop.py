"""Camunda 8 does not repeat a standard loop.

It accepts the model without a word and runs the activity once. Draw the loop with an exclusive gateway, or use a
multi-instance activity.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    StandardLoop,
)

CODE = "PRT104"
NAME = "camunda-standard-loop"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for node in index.activities():
        if isinstance(node.repeat, StandardLoop):
            fact = "Camunda 8 ignores its standard loop and runs it once"
            yield Note(node.id, fact, "Draw the loop with an exclusive gateway.")
